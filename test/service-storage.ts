import { createServiceStorage, type ServiceStorage } from '../src/app/service-parts.ts';
import { createGrantDirectory } from '../src/domain/access/grant-directory.ts';
import { type Access, createAccess, type PolicySettings } from '../src/domain/access/policy.ts';
import type { Feed } from '../src/domain/datapoints/feed.ts';
import { createInProcessFeed } from '../src/feed/in-process-feed.ts';
import { silentLog } from '../src/lib/log.ts';
import type { Storage } from '../src/storage/storage.ts';
import { temporaryStorage } from './temporary-storage.ts';

export interface OpenedServiceStorage {
  readonly storage: ServiceStorage;
  readonly feed: Feed;
  readonly access: Access;
}

/** Stores as the service uses them, with their caches, over an engine or an empty storage. */
export async function openServiceStorage(
  given?: Storage,
  settings: PolicySettings = { publicPush: 'open' },
): Promise<OpenedServiceStorage> {
  const engine = given ?? (await temporaryStorage());
  const feed = createInProcessFeed({ log: silentLog });
  const storage = createServiceStorage(engine, feed);
  const access = createAccess({ grants: createGrantDirectory(storage.grants, feed), settings });
  return { storage, feed, access };
}
