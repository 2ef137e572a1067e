import type pg from 'pg';
import { silentLog } from '../../../src/lib/log.ts';
import {
  canUse,
  migrate,
  newestTables,
  refuseHalf,
  refuseNewer,
  versionOf,
} from '../../../src/storage/postgres/migrate.ts';
import { connectWriter, unusable } from '../../../src/storage/postgres/opening.ts';
import { createReader, type Reader } from '../../../src/storage/postgres/reader.ts';
import { lockService, unlockService } from '../../../src/storage/postgres/service-lock.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';

const noData = (): UnusableStorageError =>
  new UnusableStorageError(
    'the database of KIPIMO_DATABASE_URL holds no data of Kipimo: name another one, or start the ' +
      'service once',
  );

/**
 * Connects for a command that may run beside a service, and brings the tables up to date where no
 * service of an older version runs. `makes`: an empty database gets its tables. Throws
 * UnusableStorageError when a person has to mend something.
 */
export async function connectForCommand(
  url: string,
  { makes }: { readonly makes: boolean },
): Promise<pg.Client> {
  let client: pg.Client | undefined;
  try {
    client = await connectWriter(url);
    await refuseHalf(client);
    const version = await versionOf(client);
    if (version === 0 && !makes) throw noData();
    if (await canUse(client, version)) return client;
    await lockService(client, undefined, 'command');
    await migrate(client);
    await unlockService(client);
    return client;
  } catch (error) {
    client?.end().catch(() => undefined);
    throw unusable(error);
  }
}

/**
 * Connections that read, for a command, beside a service or without one; they change nothing.
 * Throws UnusableStorageError where there are no tables of this version.
 */
export async function openForReading(url: string): Promise<Reader> {
  let client: pg.Client | undefined;
  try {
    client = await connectWriter(url);
    await refuseHalf(client);
    const version = await versionOf(client);
    if (version === 0) throw noData();
    await refuseNewer(client);
    if (version < newestTables) {
      throw new UnusableStorageError(
        `the database has version ${version}: start the service once, it makes it ${newestTables}`,
      );
    }
  } catch (error) {
    throw unusable(error);
  } finally {
    await client?.end().catch(() => undefined);
  }
  return createReader(url, silentLog);
}
