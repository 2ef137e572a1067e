import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deviceId, sensorId } from '../../test/contract/storage/builders.ts';
import type { AggregationPlan } from '../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../domain/datapoints/bucket-page.ts';
import { createBucketColumnRows, createBucketRows } from './rows.ts';
import { createBucketWriter, createSensorBucketWriter } from './summary.ts';

const sensors = ['tank', 'well_2'].map((id) => ({
  deviceId: deviceId('farm'),
  sensorId: sensorId(id),
}));

const number = fc.oneof(
  ...[fc.constantFrom(0, -0, 0.1, 1e21, 1e-7, 5e-324, 21.53, 1 / 3), fc.integer()],
  ...[fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(undefined)],
);
const start = fc.integer({ min: -70_000_000_000_000, max: 260_000_000_000_000 });
const bucketsOf = (values: fc.Arbitrary<SensorBucket['bucket']['values']>) =>
  fc.array(
    fc.record({ sensor: fc.constantFrom(...sensors), bucket: fc.record({ start, values }) }),
  );

test('many buckets are written as each alone is', () => {
  const cases = [
    { plan: { aggregates: ['avg'] }, values: fc.tuple(number) },
    {
      plan: { aggregates: ['min', 'increase', 'count'] },
      values: fc.tuple(number, number, number),
    },
  ] satisfies { plan: AggregationPlan; values: unknown }[];
  for (const { plan, values } of cases) {
    const ofMany = createSensorBucketWriter(plan);
    const ofOne = createBucketWriter(plan);
    fc.assert(
      fc.property(bucketsOf(values), (buckets) => {
        const many = createBucketRows(plan, false)(buckets);
        assert.equal(Buffer.from(many ?? []).toString(), buckets.map(ofMany).join(','));
        const one = createBucketRows(plan, true)(buckets);
        const expected = buckets.map(({ bucket }) => ofOne(bucket)).join(',');
        assert.equal(Buffer.from(one ?? []).toString(), expected);
      }),
    );
  }
});

test('columns of buckets are written as each bucket alone is', () => {
  const plan: AggregationPlan = { aggregates: ['min', 'increase', 'count'] };
  const ofOne = createBucketWriter(plan);
  const bucket = fc.record({ start, values: fc.tuple(number, number, number) });
  fc.assert(
    fc.property(fc.array(bucket), fc.nat(20), (buckets, from) => {
      const columns = {
        count: buckets.length,
        starts: Float64Array.from(buckets.map((one) => one.start)),
        values: plan.aggregates.map((_name, at) =>
          Float64Array.from(buckets.map(({ values }) => values[at] ?? Number.NaN)),
        ),
      };
      const first = Math.min(from, buckets.length);
      const rows = createBucketColumnRows(plan);
      const written = rows({ columns, from: first, to: buckets.length });
      assert.equal(Buffer.from(written).toString(), buckets.slice(first).map(ofOne).join(','));
    }),
  );
});

test('buckets with a value that is no number are left to the writer of single ones', () => {
  const rows = createBucketRows({ aggregates: ['first'] }, true);
  const [sensor] = sensors;
  assert.ok(sensor !== undefined);
  for (const value of ['7', null, true, { a: 1 }]) {
    const written = rows(
      [1, value].map((one) => ({ sensor, bucket: { start: 0, values: [one] } })),
    );
    assert.equal(written, undefined);
  }
});
