import {
  assumed,
  isUnsaid,
  type Measures,
  type WholeHistory,
  wholeAggregates,
} from '../api/measures.ts';
import type { Sensor } from '../api/types.ts';
import { useResource } from './resource.ts';
import { api } from './session.ts';

type OfSensor = WholeHistory & { readonly device_id: string; readonly sensor_id: string };

/** A sensor and the device it is of. */
export interface MeasuredSensor {
  readonly deviceId: string;
  readonly sensor: Sensor;
}

/**
 * What sensors measure: as it was said, else as their kind and all of their values look, which is
 * read once. Undefined while that is not known.
 */
export function useMeasures(
  sensors: readonly MeasuredSensor[],
): (sensor: MeasuredSensor) => Measures | undefined {
  const open = sensors.filter(({ sensor }) => isUnsaid(sensor));
  const devices = [...new Set(open.map(({ deviceId }) => deviceId))].join(',');
  const ids = [...new Set(open.map(({ sensor }) => sensor.id))].join(',');
  const { value, error } = useResource(
    open.length === 0 ? undefined : `measures ${devices} ${ids}`,
    (signal) =>
      api.getJson<readonly OfSensor[]>({
        path: '/sensors_data',
        query: { device_id: devices, sensor_id: ids, aggregate: wholeAggregates },
        signal,
      }),
    { isKept: true },
  );
  return ({ deviceId, sensor }) => {
    if (!isUnsaid(sensor)) return sensor.measures ?? 'gauge';
    if (value === undefined && error === undefined) return undefined;
    const whole = value?.find((one) => one.device_id === deviceId && one.sensor_id === sensor.id);
    return assumed(sensor, whole);
  };
}
