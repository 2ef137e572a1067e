import type { DatabaseSync } from 'node:sqlite';
import type { DatapointSizes } from './chunk-checks.ts';
import type { TableSize } from './table-checks.ts';

/** Something with a name, and what it takes. */
export interface SizedPart {
  readonly name: string;
  readonly bytes: number;
  readonly datapoints?: number;
}

/** What takes most, largest first. */
export interface Largest {
  readonly tables: readonly SizedPart[];
  /** By what their datapoints take in chunks. */
  readonly devices: readonly SizedPart[];
  readonly sensors: readonly SizedPart[];
}

const shownMax = 5;
const nameSeries = 'select device_id, sensor_id from sensors where series = ?';

/** The largest tables, devices and sensors. */
export function largestOf(
  database: DatabaseSync,
  sizes: DatapointSizes,
  tables: readonly TableSize[],
): Largest {
  const devices = new Map<string, { name: string; bytes: number; datapoints: number }>();
  const sensors: SizedPart[] = [];
  const find = database.prepare(nameSeries);
  for (const [series, { bytes, datapoints }] of sizes.series) {
    const row = find.get(series);
    if (row === undefined) continue;
    const [deviceId, sensorId] = [String(row['device_id']), String(row['sensor_id'])];
    const device = devices.get(deviceId) ?? { name: deviceId, bytes: 0, datapoints: 0 };
    devices.set(deviceId, device);
    device.bytes += bytes;
    device.datapoints += datapoints;
    sensors.push({ name: `${deviceId}/${sensorId}`, bytes, datapoints });
  }
  return {
    tables: top([
      ...tables,
      { name: 'chunks', bytes: sizes.chunkBytes },
      { name: 'datapoint_log', bytes: sizes.logBytes },
    ]),
    devices: top([...devices.values()]),
    sensors: top(sensors),
  };
}

const top = (parts: readonly SizedPart[]): readonly SizedPart[] =>
  parts.toSorted((one, other) => other.bytes - one.bytes).slice(0, shownMax);
