import type { SqlSession } from '../sql/session.ts';
import type { ChunkSizes } from './chunk-examination.ts';

/** Something with a name, and what it takes. */
export interface SizedPart {
  readonly name: string;
  readonly bytes: number;
  readonly datapoints?: number;
}

/** The parts that take most, largest first. */
export interface Largest {
  readonly tables: readonly SizedPart[];
  /** By what their datapoints take in chunks. */
  readonly devices: readonly SizedPart[];
  readonly sensors: readonly SizedPart[];
}

const shownMax = 5;

const seriesPerStep = 1_000;
const selectNames = `
  select series, device_id as "deviceId", sensor_id as "sensorId"
  from each($1) cross join sensors on series = cast(value as bigint)`;

/** The largest tables, devices and sensors; series that no sensor has are left out. */
export async function largestOf(
  session: SqlSession,
  { series }: ChunkSizes,
  tables: readonly SizedPart[],
): Promise<Largest> {
  const devices = new Map<string, { name: string; bytes: number; datapoints: number }>();
  const sensors: SizedPart[] = [];
  const numbers = Array.from(series.keys(), String);
  for (let from = 0; from < numbers.length; from += seriesPerStep) {
    const some = numbers.slice(from, from + seriesPerStep);
    type Named = { readonly series: number; readonly deviceId: string; readonly sensorId: string };
    for (const row of await session.all<Named>(selectNames, some)) {
      const { deviceId, sensorId } = row;
      const { bytes = 0, datapoints = 0 } = series.get(row.series) ?? {};
      const device = devices.get(deviceId) ?? { name: deviceId, bytes: 0, datapoints: 0 };
      devices.set(deviceId, device);
      device.bytes += bytes;
      device.datapoints += datapoints;
      sensors.push({ name: `${deviceId}/${sensorId}`, bytes, datapoints });
    }
  }
  return { tables: top(tables), devices: top([...devices.values()]), sensors: top(sensors) };
}

const top = (parts: readonly SizedPart[]): readonly SizedPart[] =>
  parts.toSorted((one, other) => other.bytes - one.bytes).slice(0, shownMax);
