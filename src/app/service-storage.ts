import type { ChangeFeed } from '../domain/changes.ts';
import { createDeviceDirectory, type DeviceDirectory } from '../domain/devices/devices.ts';
import type { Storage } from '../storage/storage.ts';
import { publishChanges } from './publish-changes.ts';

/** The stores as the service uses them: their writes are published, and devices are remembered. */
export interface ServiceStorage extends Storage {
  readonly devices: DeviceDirectory;
}

/** Puts what every engine is offered in front of one. */
export function createServiceStorage(engine: Storage, changes: ChangeFeed): ServiceStorage {
  const storage = publishChanges(engine, changes);
  return { ...storage, devices: createDeviceDirectory(storage.devices, changes) };
}
