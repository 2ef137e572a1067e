import Type, { type Static, type TObject } from 'typebox';
import {
  type Aggregate,
  type AggregationPlan,
  aggregates,
  type Bucket,
} from '../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../domain/datapoints/bucket-page.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { LongJson, type LongText, writeJson } from '../lib/long-json.ts';
import { createBuckets, parseInterval } from '../lib/time-bucket.ts';
import { findTimeZone } from '../lib/time-zone.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { csvIds, longCell, valueCell } from './csv.ts';
import { Anything, DateText, Message, optional, Plain } from './fields.ts';
import { type Spelling, v2Spelling } from './spelling.ts';
import { shown } from './validation.ts';

/** Parameters with which a read sums datapoints up instead of answering each [contract 6]. */
export const summaryParameters = optional({
  aggregate: Type.Array(Type.Unsafe<Aggregate>({ type: 'string', enum: [...aggregates] }), {
    description: 'One value per interval instead of datapoints; a comma list for several.',
  }),
  interval: Plain('Of a bucket: a number and s, m, h, d, w, mo or y, as in 15m. Absent: one.'),
  timezone: Type.String({
    default: 'UTC',
    description: 'IANA name, such as Africa/Dakar: where buckets begin at midnight.',
  }),
  points: Type.Integer({
    minimum: 2,
    maximum: limits.downsampledPointsMax,
    description: 'Downsamples a long range to so many datapoints for plots, and keeps its peaks.',
  }),
});

/** A bucket: `value` for one aggregate, a key of its name for each of several. */
export const BucketMessage = Message('Bucket', {
  device_id: Type.Optional(Plain('In reads of many sensors.')),
  sensor_id: Type.Optional(Plain('In reads of many sensors.')),
  timestamp: DateText('Where the bucket starts.'),
  value: Type.Optional(Anything('With one aggregate.')),
  ...Object.fromEntries(
    aggregates.map((name) => [name, Type.Optional(Anything('With several aggregates.'))]),
  ),
});

/** How a read is to be summed up; undefined when its datapoints are wanted. */
export type Summary =
  | { readonly kind: 'aggregate'; readonly plan: AggregationPlan }
  | { readonly kind: 'downsample'; readonly points: number };

/** Reads the parameters. Throws DomainError invalid, naming the one to change. */
export function readSummary(query: Static<TObject<typeof summaryParameters>>): Summary | undefined {
  const { interval: intervalText, timezone = 'UTC', points } = query;
  const zone = findTimeZone(timezone);
  if (zone === undefined) {
    throw invalid(`timezone must be an IANA name such as Africa/Dakar, got ${shown(timezone)}`);
  }
  if (query.aggregate === undefined) {
    if (intervalText !== undefined) throw invalid('interval needs aggregate: say what to compute');
    return points === undefined ? undefined : { kind: 'downsample', points };
  }
  if (points !== undefined)
    throw invalid('points downsamples datapoints: leave it out with aggregate');
  const names = [...new Set(query.aggregate.map(readAggregate))];
  if (intervalText === undefined) return { kind: 'aggregate', plan: { aggregates: names } };
  const interval = parseInterval(intervalText);
  if (interval === undefined) {
    throw invalid(
      'interval must be a number and one of s, m, h, d, w, mo, y, such as 15m or 1d, ' +
        `up to a hundred years, got ${shown(intervalText)}`,
    );
  }
  const bucketOf = createBuckets(interval, zone);
  return { kind: 'aggregate', plan: { aggregates: names, bucketOf } };
}

function readAggregate(text: string): Aggregate {
  const name = aggregates.find((known) => known === text);
  if (name !== undefined) return name;
  throw invalid(`aggregate must be of ${aggregates.join(', ')}, got ${shown(text)}`);
}

/** The keys of the values, in the order of the plan. */
export const keysOf = (plan: AggregationPlan): readonly string[] =>
  plan.aggregates.length === 1 ? ['value'] : plan.aggregates;

/** Writes buckets as JSON; a value that a bucket has not is left out. */
export function createBucketWriter(plan: AggregationPlan): (bucket: Bucket) => string {
  const fieldsOf = createFieldsWriter(plan);
  return (bucket) => `{${fieldsOf(bucket)}}`;
}

/** The same with device_id and sensor_id in front. */
export function createSensorBucketWriter(
  plan: AggregationPlan,
  spelling: Spelling = v2Spelling,
): (item: SensorBucket) => string {
  const fieldsOf = createFieldsWriter(plan);
  return ({ sensor, bucket }) => `{${sensorBucketIds(sensor, spelling)},${fieldsOf(bucket)}}`;
}

/** The fields that name the sensor of a bucket. */
export const sensorBucketIds = (
  sensor: SensorRef,
  { deviceId, sensorId }: Spelling = v2Spelling,
): string => `"${deviceId}":"${sensor.deviceId}","${sensorId}":"${sensor.sensorId}"`;

function createFieldsWriter(plan: AggregationPlan): (bucket: Bucket) => string {
  const names = keysOf(plan).map((key) => `,"${key}":`);
  return ({ start, values }) => {
    let text = `"timestamp":"${formatTimestamp(start)}"`;
    for (let at = 0; at < names.length; at += 1)
      text += values[at] === undefined ? '' : names[at] + writeJson(values[at]);
    return text;
  };
}

/** The first line of buckets as CSV. */
export const bucketCsvHeader = (
  plan: AggregationPlan,
  { deviceId, sensorId }: Spelling = v2Spelling,
): string => `${deviceId},${sensorId},timestamp,${keysOf(plan).join(',')}\r\n`;

/** Writes a bucket as CSV; a value that it has not is an empty cell. */
export const bucketCsvRow = ({ sensor, bucket }: SensorBucket): string | LongText =>
  rowOf(csvIds(sensor), bucket);

/** The first line of buckets that name no sensor. */
export const totalCsvHeader = (plan: AggregationPlan): string =>
  `timestamp,${keysOf(plan).join(',')}\r\n`;

/** Writes such a bucket as CSV. */
export const totalCsvRow = (bucket: Bucket): string | LongText => rowOf('', bucket);

/** A row with a long value is made while it is written. */
function rowOf(ids: string, { start, values }: Bucket): string | LongText {
  let length = 0;
  for (const value of values) if (value instanceof LongJson) length += value.text.length;
  if (length === 0) {
    const cells = values.map((value) => (value === undefined ? '' : valueCell(value)));
    return `${ids}${formatTimestamp(start)},${cells.join(',')}\r\n`;
  }
  return {
    length,
    *[Symbol.iterator]() {
      yield ids + formatTimestamp(start);
      for (const value of values) {
        yield ',';
        if (value instanceof LongJson) yield* longCell(value);
        else if (value !== undefined) yield valueCell(value);
      }
      yield '\r\n';
    },
  };
}
