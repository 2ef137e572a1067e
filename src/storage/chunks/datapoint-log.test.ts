import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toColumnBatch, toDatapoints } from '../../domain/datapoints/column-batch.ts';
import type { JsonValue } from '../../lib/json.ts';
import { decodePushes, encodePushes, type LoggedPush } from './datapoint-log.ts';

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue() as fc.Arbitrary<JsonValue>,
  fc.constant('\udfff'),
);
const instant = fc.integer({ min: -8.64e15, max: 8.64e15 });
const datapoint = fc.oneof(
  fc.record({ value, receivedAt: instant }),
  fc.record({ value, timestamp: instant, receivedAt: instant }),
);
const push = fc.record(
  {
    series: fc.nat(),
    sequenceNumber: fc.nat({ max: 2 ** 40 }),
    batch: fc.array(datapoint, { maxLength: 8 }).map(toColumnBatch),
    last: fc.nat({ max: 7 }),
  },
  { requiredKeys: ['series', 'sequenceNumber', 'batch'] },
);

/** With its datapoints as objects. */
const shown = (pushes: readonly LoggedPush[]): string =>
  JSON.stringify(pushes.map((one) => ({ ...one, batch: toDatapoints(one.batch) })));

test('a batch comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(push, { maxLength: 8 }), (pushes) => {
      assert.equal(shown(decodePushes(encodePushes(pushes))), shown(pushes));
    }),
  );
});

test('numbers of many digits keep all of them', () => {
  const digits = JSON.rawJSON('12345678901234567890.123456789');
  const pushes = [
    { series: 1, sequenceNumber: 0, batch: toColumnBatch([{ value: digits, receivedAt: 5 }]) },
  ];
  assert.equal(shown(decodePushes(encodePushes(pushes))), shown(pushes));
});

test('one changed byte anywhere is noticed', () => {
  const pushes = [
    {
      series: 7,
      sequenceNumber: 3,
      batch: toColumnBatch([{ value: 'wet', receivedAt: 5 }]),
      last: 0,
    },
  ];
  const bytes = encodePushes(pushes);
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x20;
    assert.throws(() => decodePushes(damaged), /damaged/);
  }
});
