import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import type { DatapointStore } from './datapoint-store.ts';
import { calibratedDatapoint } from './history.ts';
import { createSourceOpening, type SensorSelection } from './sensor-selection.ts';

/** The last value of one of many sensors. */
export interface LastValue {
  readonly sensor: SensorRef;
  readonly datapoint: Datapoint;
}

/**
 * The last value of each sensor of the selection that has one, device after device; for those who
 * may view the data of every device named. Throws not_found when no device has a sensor named.
 */
export type ReadLastValues = (
  actor: Actor,
  selection: SensorSelection & { readonly isCalibrated: boolean },
) => Promise<readonly LastValue[]>;

export function createReadLastValues(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly access: Access;
}): ReadLastValues {
  const { datapoints } = options;
  const open = createSourceOpening(options);
  return async (actor, { isCalibrated, ...selection }) => {
    const sources = await open(actor, selection);
    const values = await datapoints.lastValues(selection.deviceIds);
    return sources.flatMap(({ ref, sensor }): readonly LastValue[] => {
      const raw = values.get(ref.deviceId)?.get(ref.sensorId);
      if (raw === undefined) return [];
      return [{ sensor: ref, datapoint: isCalibrated ? calibratedDatapoint(sensor, raw) : raw }];
    });
  };
}
