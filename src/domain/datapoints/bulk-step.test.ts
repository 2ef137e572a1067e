import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../errors.ts';
import { guestUsername, parseDeviceId, parseSensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import {
  type BulkRow,
  BulkSensor,
  BulkStep,
  bulkStepOf,
  type Gate,
  groupStep,
} from './bulk-step.ts';
import { toDatapoints } from './column-batch.ts';

const now = Date.UTC(2026, 2, 20);
const ids = { devices: ['open', 'closed', 'unknown'], sensors: ['a', 'b', 'missing'] };
const gates = new Map<ReturnType<typeof parseDeviceId>, Gate>([
  [
    parseDeviceId('open'),
    {
      kind: 'open',
      isStranger: false,
      owner: guestUsername,
      sensors: new Set([parseSensorId('a'), parseSensorId('b')]),
    },
  ],
  [parseDeviceId('closed'), { kind: 'closed', refusal: new DomainError('forbidden', 'closed') }],
]);

const sensor = fc
  .record({
    deviceId: fc.constantFrom('open', 'open', 'open', ...ids.devices),
    sensorId: fc.constantFrom('a', 'b', ...ids.sensors),
  })
  .map(({ deviceId, sensorId }) => ({
    deviceId: parseDeviceId(deviceId),
    sensorId: parseSensorId(sensorId),
  }));
const timestamp = fc.oneof(
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(now, now + limits.timestampAheadMs, now + limits.timestampAheadMs + 1, 0.5),
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constantFrom('text', null, -0, 'x'.repeat(2_000)) },
);
const datapoint = fc.oneof(
  fc.record({ value, timestamp }),
  value.map((one) => ({ value: one })),
);
const line: fc.Arbitrary<BulkRow> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ line: fc.constant(0), sensor, datapoint }) },
  { weight: 1, arbitrary: fc.constant({ line: 0, refusal: new DomainError('invalid', 'odd') }) },
);

/** Outcome of a step: by sensor, and by refused line with the sensor it is reported for. */
function outcomeOf(step: BulkStep) {
  const refused: unknown[] = [];
  const { groups, linesOf } = groupStep(step, {
    ...{ gates, now, valueBytesMax: 1_024, actor: { kind: 'guest' } as const },
    fullness: () => undefined,
    refuse: ({ line, refusal: { code, message }, sensor }) => {
      refused.push([line, code, message, sensor && [sensor.deviceId, sensor.sensorId]]);
    },
  });
  const stored = groups.map((group) => ({
    sensor: [group.sensor.deviceId, group.sensor.sensorId],
    lines: linesOf(group),
    datapoints: toDatapoints(group.builder.finish()),
  }));
  return { stored, refused };
}

test('lines in columns have the outcome of lines that are objects, in any mixture', () => {
  const mixed = fc.array(fc.tuple(line, fc.boolean(), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(mixed, (all) => {
      const lines = all.map(([one], index): BulkRow => ({ ...one, line: index + 1 }));
      const known = new Map<string, BulkSensor>();
      const step = new BulkStep();
      all.forEach(([, inColumns, isNew], index) => {
        const one = lines[index] as BulkRow;
        if ('refusal' in one || !inColumns || typeof one.datapoint.value !== 'number') {
          step.put(one);
          return;
        }
        const { deviceId, sensorId } = one.sensor;
        const key = `${deviceId} ${sensorId}`;
        // The reader forgets sensors now and then: one may have several objects in a step.
        if (isNew || !known.has(key)) known.set(key, new BulkSensor(deviceId, sensorId));
        const { value: number, timestamp: at = Number.NaN } = one.datapoint as {
          readonly value: number;
          readonly timestamp?: number;
        };
        step.putNumber(one.line, known.get(key) as BulkSensor, number, at);
      });
      step.end();
      const outcome = outcomeOf(step);
      assert.deepStrictEqual(outcome, outcomeOf(bulkStepOf(lines)));
      const linesStored = outcome.stored.reduce((sum, group) => sum + group.lines.length, 0);
      assert.equal(linesStored + outcome.refused.length, lines.length);
      for (const { lines: numbers, datapoints } of outcome.stored) {
        assert.equal(numbers.length, datapoints.length);
        assert.deepEqual(
          datapoints.map((one) => one.value),
          numbers.map((at) => (lines[at - 1] as { datapoint: { value: unknown } }).datapoint.value),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('the quota of an owner is asked for once in a step', () => {
  let asked = 0;
  const refusal = new DomainError('storage_full', 'full');
  const lines = ['a', 'b', 'missing'].map(
    (id, at): BulkRow => ({
      ...{ line: at + 1, datapoint: { value: at } },
      sensor: { deviceId: parseDeviceId('open'), sensorId: parseSensorId(id) },
    }),
  );
  const refused: number[] = [];
  const { groups } = groupStep(bulkStepOf(lines), {
    ...{ gates, now, valueBytesMax: 1_024, actor: { kind: 'guest' } as const },
    fullness() {
      asked += 1;
      return refusal;
    },
    refuse: (one) => one.refusal === refusal && refused.push(one.line),
  });
  assert.deepEqual([groups.length, refused, asked], [0, [1, 2, 3], 1]);
});

test('a sensor that a step has ended with belongs to the next one anew', () => {
  const one = new BulkSensor(parseDeviceId('open'), parseSensorId('a'));
  for (const round of [1, 2]) {
    const step = new BulkStep();
    step.putNumber(round, one, round, Number.NaN);
    step.putNumber(round, one, round, Number.NaN);
    step.end();
    assert.equal(step.sensors.length, 1);
    assert.equal(one.step, undefined);
  }
});
