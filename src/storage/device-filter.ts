import type { LastValues } from '../domain/datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../domain/datapoints/history.ts';
import { type Device, sensorOf } from '../domain/devices/device.ts';
import { type Filter, matches } from '../domain/devices/query.ts';
import type { DeviceId, SensorId } from '../domain/ids.ts';
import type { JsonValue } from '../lib/json.ts';

/** The last values of all sensors of some devices, as the datapoint store answers them. */
export type ReadLastValues = (devices: readonly DeviceId[]) => Promise<LastValues>;

/** Those devices that pass the filter; it sees last values as readers do, or none if it may not. */
export async function passing(
  devices: readonly Device[],
  filter: Filter,
  options: {
    readonly maySeeValues: (device: Device) => boolean;
    readonly readLastValues: ReadLastValues;
  },
): Promise<readonly Device[]> {
  // First without values: only for those devices where the filter asks for one are they read.
  const wanting = new Set<Device>();
  const passed = devices.filter((device) =>
    matches(filter, device, () => {
      wanting.add(device);
      return undefined;
    }),
  );
  if (wanting.size === 0) return passed;

  const decided = new Set(passed);
  const readable = [...wanting].filter(options.maySeeValues).map(({ id }) => id);
  const lastValues = await options.readLastValues(readable);
  return devices.filter((device) => {
    if (!wanting.has(device)) return decided.has(device);
    return matches(filter, device, (sensorId) => lastValueOf(device, sensorId, lastValues));
  });
}

function lastValueOf(device: Device, name: string, lastValues: LastValues): JsonValue | undefined {
  // The name comes from a filter; as the id of a sensor that exists it is a sensor id.
  const sensor = sensorOf(device, name as SensorId);
  const datapoint = sensor && lastValues.get(device.id)?.get(sensor.id);
  return datapoint && calibratedDatapoint(sensor, datapoint).value;
}
