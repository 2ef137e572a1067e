import type { Config } from '../config/config.ts';
import type { InstallationSettings } from '../domain/administration/installation-settings.ts';
import type { ServiceFacts } from '../domain/administration/service-state.ts';
import type { Budgets } from '../domain/budgets/budgets.ts';
import type { StorageQuotas } from '../domain/budgets/storage-quotas.ts';
import type { ChangeFeed } from '../domain/changes.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import { createDeviceDirectory, type DeviceDirectory } from '../domain/devices/devices.ts';
import type { Presence } from '../domain/gateways/presence.ts';
import type { Channel } from '../domain/notifications/channel.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { FailureTalk } from '../domain/users/failure-limiters.ts';
import type { CodeSender } from '../domain/users/message-language.ts';
import type { Services } from '../http/v2/services.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { PasswordCost } from '../lib/password-hash.ts';
import type { Storage } from '../storage/storage.ts';
import { publishChanges } from './publish-changes.ts';

/** Parts that the domain is built from. */
export interface ServiceParts {
  readonly config: Config;
  readonly facts: ServiceFacts;
  readonly settings: InstallationSettings;
  readonly storage: ServiceStorage;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly budgets: Budgets;
  /** The secret with which only this installation can sign. */
  readonly installationSecret: string;
  /** The space on the disk that owners may fill. */
  readonly room: StorageQuotas;
  /** The channels that are configured. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly webhookSecretOf: Services['webhookSecretOf'];
  /** How codes reach people. */
  readonly codes: CodeSender;
  /** Which gateways are connected; absent: those that are to this process. */
  readonly presence?: Presence | undefined;
  /** Other processes that serve the same data; absent: there are none. */
  readonly peers?: FailureTalk | undefined;
  /** Of new hashes; absent: the usual one. */
  readonly passwordCost: PasswordCost | undefined;
}

/** The stores as the service uses them: their writes are published, and devices are remembered. */
export interface ServiceStorage extends Storage {
  readonly devices: DeviceDirectory;
}

/** Puts what every engine is offered in front of one. */
export function createServiceStorage(engine: Storage, changes: ChangeFeed): ServiceStorage {
  const storage = publishChanges(engine, changes);
  return { ...storage, devices: createDeviceDirectory(storage.devices, changes) };
}
