import type { SeriesSize } from './chunk-examination.ts';

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

/** A series, with the sensor that has it. */
export interface NamedSize extends SeriesSize {
  readonly deviceId: string;
  readonly sensorId: string;
}

const shownMax = 5;

/** The largest tables, devices and sensors. */
export function largestOf(series: Iterable<NamedSize>, tables: readonly SizedPart[]): Largest {
  const devices = new Map<string, { name: string; bytes: number; datapoints: number }>();
  const sensors: SizedPart[] = [];
  for (const { deviceId, sensorId, bytes, datapoints } of series) {
    const device = devices.get(deviceId) ?? { name: deviceId, bytes: 0, datapoints: 0 };
    devices.set(deviceId, device);
    device.bytes += bytes;
    device.datapoints += datapoints;
    sensors.push({ name: `${deviceId}/${sensorId}`, bytes, datapoints });
  }
  return { tables: top(tables), devices: top([...devices.values()]), sensors: top(sensors) };
}

const top = (parts: readonly SizedPart[]): readonly SizedPart[] =>
  parts.toSorted((one, other) => other.bytes - one.bytes).slice(0, shownMax);
