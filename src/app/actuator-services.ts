import type { Access } from '../domain/access/access.ts';
import type { Budgets } from '../domain/budgets/budgets.ts';
import type { StorageRoom } from '../domain/budgets/storage-room.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import {
  type ActuatorChange,
  type Actuators,
  createActuators,
} from '../domain/devices/actuators.ts';
import { createTimedSettings, type TimedSettings } from '../domain/devices/timed-settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Storage } from '../storage/storage.ts';

/** Actuators, wired, with what sets them back. */
export function createActuatorServices(parts: {
  readonly storage: Storage;
  readonly access: Access;
  readonly feed: Feed;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  readonly valueBytesMax: number;
  readonly room: StorageRoom;
}): { readonly actuators: Actuators; readonly timedSettings: TimedSettings } {
  const { storage, access, feed, budgets, clock, log, valueBytesMax, room } = parts;
  const { devices: store } = storage;
  const publish = (change: ActuatorChange): void => feed.publish([{ kind: 'actuator', ...change }]);
  const budget = budgets.of('timed_settings');
  const timedSettings = createTimedSettings({ store, budget, publish, clock, log });
  const actuators = createActuators({
    ...{ store, access, clock, publish, valueBytesMax, timedSettings, room },
  });
  return { actuators, timedSettings };
}
