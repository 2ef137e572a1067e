import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { Instant } from '../lib/clock.ts';
import type { LinePoint } from './line-protocol.ts';

/** Units of the timestamps of a request. */
export const precisions = ['ns', 'n', 'us', 'u', 'ms', 's', 'm', 'h'] as const;

export type Precision = (typeof precisions)[number];

export interface SensorDatapoint {
  readonly sensor: SensorRef;
  readonly datapoint: NewDatapoint;
}

/** Years 0 to 9999, as everywhere. */
const instantMin = -62_167_219_200_000n;
const instantMax = 253_402_300_799_999n;

const nanosecondsOf: Readonly<Record<Precision, bigint>> = {
  ns: 1n,
  n: 1n,
  us: 1_000n,
  u: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/**
 * Makes a datapoint for each field of a point. The unit of its time is not given, or to be guessed
 * from its size as InfluxDB 3 does: `auto`. Throws DomainError invalid.
 */
export function datapointsOfPoint(
  point: LinePoint,
  precision: Precision | 'auto' | undefined,
): readonly SensorDatapoint[] {
  const timestamp = point.time === undefined ? undefined : instantOf(point.time, precision);
  const { deviceId, naming, others } = deviceOf(point);
  const id = parseDeviceId(deviceId);
  return point.fields.map(([field, value]) => {
    // A field called value says nothing: then it is the measurement that was measured.
    const words =
      field === 'value' && naming !== 'measurement'
        ? [point.measurement, ...others]
        : [...(naming === 'host' ? [point.measurement] : []), ...others, field];
    return {
      sensor: { deviceId: id, sensorId: parseSensorId(asId(words.join('_'))) },
      datapoint: timestamp === undefined ? { value } : { value, timestamp },
    };
  });
}

/** The source of a point's device; hosts have many measurements with the same fields. */
type Naming = 'device' | 'host' | 'measurement';

/**
 * The device of a point, and the values of all other tags in the order of their names: they are in
 * the sensor's id, so that two series do not become one sensor.
 */
function deviceOf({ measurement, tags }: LinePoint): {
  readonly deviceId: string;
  readonly naming: Naming;
  readonly others: readonly string[];
} {
  const others = (...taken: readonly string[]) =>
    [...tags.entries()]
      .filter(([name]) => !taken.includes(name))
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, value]) => value);
  const deviceId = tags.get('device_id');
  const host = tags.get('host');
  if (deviceId !== undefined) {
    const naming = host === undefined ? 'device' : 'host';
    return { deviceId, naming, others: others('device_id', 'host') };
  }
  if (host !== undefined) return { deviceId: host, naming: 'host', others: others('host') };
  const device = tags.get('device');
  if (device !== undefined) {
    return { deviceId: device, naming: 'device', others: others('device') };
  }
  return { deviceId: measurement, naming: 'measurement', others: others() };
}

/** Characters that an id may not hold become a dash each: paths and units are in tags. */
const asId = (text: string): string => text.replace(/[^!$*,\-.0-9:@A-Z[\]^_`a-z{|}~]/g, '-');

/** Seconds since 1973, milliseconds since 1970. */
const countMin = 100_000_000n;
const yearMs = 31_536_000_000n;

function instantOf(time: string, given: Precision | 'auto' | undefined): Instant {
  const count = BigInt(time);
  const precision = given === 'auto' ? guessed(count) : (given ?? 'ns');
  const nanoseconds = count * nanosecondsOf[precision];
  const rest = nanoseconds % 1_000_000n;
  const instant = (nanoseconds - (rest < 0n ? rest + 1_000_000n : rest)) / 1_000_000n;
  if (given === undefined && count >= countMin && instant < yearMs) {
    throw invalid(
      `the timestamp ${time} is a date of 1970 when it counts nanoseconds: give precision, ` +
        'such as precision=s',
    );
  }
  if (instant >= instantMin && instant <= instantMax) return Number(instant);
  throw invalid(`the timestamp ${time} is no date when it counts ${precision}: give precision`);
}

/** Guesses the unit in which the times of now have that many digits. */
function guessed(count: bigint): Precision {
  const size = count < 0n ? -count : count;
  if (size < 5_000_000_000n) return 's';
  if (size < 5_000_000_000_000n) return 'ms';
  return size < 5_000_000_000_000_000n ? 'us' : 'ns';
}
