import type { RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import type {
  RetainedSensor,
  RetentionStore,
} from '../../domain/datapoints/retention/retention-store.ts';
import { sensorOf } from '../../domain/devices/device.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { MemoryDatapoints } from './datapoints.ts';
import { type MemoryState, retentionKey, sameUsername } from './memory-state.ts';

/** Retentions in memory, with what their owner must call. */
export interface MemoryRetentions extends RetentionStore {
  /** Drops those of a removed sensor, or of a removed device and all of its sensors. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
}

export function createRetentionStore(
  state: Pick<MemoryState, 'devices' | 'users' | 'retentions'>,
  oldest: MemoryDatapoints['oldest'],
): MemoryRetentions {
  const { retentions } = state;

  function exists(scope: RetentionScope): boolean {
    if (scope.kind === 'user') {
      return [...state.users.values()].some(({ user }) =>
        sameUsername(user.username, scope.username),
      );
    }
    const device = state.devices.get(scope.deviceId);
    if (scope.kind === 'device') return device !== undefined;
    return device !== undefined && sensorOf(device, scope.sensorId) !== undefined;
  }

  function* all(): Iterable<RetainedSensor> {
    let number = 0;
    for (const { id: deviceId, owner, sensors } of state.devices.values()) {
      for (const { id: sensorId } of sensors) {
        number += 1;
        const scopes: readonly RetentionScope[] = [
          { kind: 'sensor', deviceId, sensorId },
          { kind: 'device', deviceId },
          { kind: 'user', username: owner },
        ];
        const scope = scopes.find((one) => retentions.has(retentionKey(one)));
        const retention = scope && retentions.get(retentionKey(scope));
        const nearest = scope && retention && { retention, source: scope.kind };
        const ages = oldest({ deviceId, sensorId });
        yield { number, deviceId, sensorId, owner, ...ages, ...(nearest && { nearest }) };
      }
    }
  }

  return {
    find: async (scope) => retentions.get(retentionKey(scope)),
    async put(scope, retention) {
      if (!exists(scope)) return 'missing';
      if (retention === undefined) retentions.delete(retentionKey(scope));
      else retentions.set(retentionKey(scope), retention);
      return 'put';
    },
    isAnySet: async () => retentions.size > 0,
    async sensors({ owner, deviceId, after, max }) {
      const chosen = [...all()].filter(
        (one) =>
          one.number > after &&
          (owner === undefined || sameUsername(one.owner, owner)) &&
          (deviceId === undefined || one.deviceId === deviceId),
      );
      return chosen.slice(0, max);
    },
    forget(deviceId, sensorId) {
      for (const key of retentions.keys()) {
        const [kind, device, sensor] = JSON.parse(key) as [string, string, string | undefined];
        if (kind === 'user' || device !== deviceId) continue;
        if (sensorId === undefined || sensor === sensorId) retentions.delete(key);
      }
    },
  };
}
