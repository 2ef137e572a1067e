import { formatTimestamp } from '../../src/lib/timestamp.ts';
import type { Traffic } from './load-slice.ts';

/** The devices that the benchmark makes, and how their sensors are named. */
export const population = {
  devices: 50,
  sensorsPerDevice: 4,
} as const;

const sensorsCount = population.devices * population.sensorsPerDevice;

/** Ids of the devices of the benchmark. */
export const deviceIds: readonly string[] = Array.from(
  { length: population.devices },
  (_, index) => `bench-${String(index).padStart(2, '0')}`,
);

/** Ids of the sensors of each device. */
export const sensorIds: readonly string[] = Array.from(
  { length: population.sensorsPerDevice },
  (_, index) => `S${index + 1}`,
);

/** Paths of all sensors; neighbours belong to different devices. */
export const sensorPaths: readonly string[] = sensorIds.flatMap((sensorId) =>
  deviceIds.map((deviceId) => `/api/v2/devices/${deviceId}/sensors/${sensorId}`),
);

export interface PushTraffic extends Traffic {
  /** How many pushes to each of `sensorPaths` were answered 204. */
  readonly acknowledged: Uint32Array;
}

/** Pushes of one value each: sensors take turns, and every timestamp comes once. */
export function createPushTraffic(options: {
  readonly token: string;
  /** Timestamp of the first value; each further one is a millisecond later. */
  readonly startAt: number;
}): PushTraffic {
  const { token, startAt } = options;
  const acknowledged = new Uint32Array(sensorsCount);
  const bodyLength = bodyOf(0, startAt).length;
  const heads = sensorPaths.map((path) =>
    headOf('POST', `${path}/value`, token, [
      'Content-Type: application/json',
      `Content-Length: ${bodyLength}`,
    ]),
  );
  let sequences = 0;
  return {
    expectedStatus: 204,
    acknowledged,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf: (sequence) =>
      (heads[sequence % sensorsCount] ?? '') + bodyOf(sequence, startAt + sequence),
    acknowledge(sequence) {
      const sensor = sequence % sensorsCount;
      acknowledged[sensor] = (acknowledged[sensor] ?? 0) + 1;
    },
  };
}

/** The body of one push, as long for every sequence: 20.0 to 29.6. */
export function bodyOf(sequence: number, instant: number): string {
  const tenths = 200 + (sequence % 97);
  const value = `${Math.floor(tenths / 10)}.${tenths % 10}`;
  return `{"value":${value},"timestamp":"${formatTimestamp(instant)}"}`;
}

/** Reads of some paths in turn. */
export function createReadTraffic(options: {
  readonly paths: readonly string[];
  readonly token: string;
}): Traffic {
  const requests = options.paths.map((path) => headOf('GET', path, options.token, []));
  let sequences = 0;
  return {
    expectedStatus: 200,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf: (sequence) => requests[sequence % requests.length] ?? '',
    acknowledge: () => undefined,
  };
}

function headOf(method: string, path: string, token: string, more: readonly string[]): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
