import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../../lib/json.ts';
import { decodePushes, encodePushes } from './datapoint-log.ts';

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
    datapoints: fc.array(datapoint, { maxLength: 8 }),
    last: fc.nat({ max: 7 }),
  },
  { requiredKeys: ['series', 'sequenceNumber', 'datapoints'] },
);

test('a batch comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(push, { maxLength: 8 }), (pushes) => {
      assert.equal(JSON.stringify(decodePushes(encodePushes(pushes))), JSON.stringify(pushes));
    }),
  );
});

test('numbers of many digits keep all of them', () => {
  const digits = JSON.rawJSON('12345678901234567890.123456789');
  const pushes = [{ series: 1, sequenceNumber: 0, datapoints: [{ value: digits, receivedAt: 5 }] }];
  assert.equal(JSON.stringify(decodePushes(encodePushes(pushes))), JSON.stringify(pushes));
});

test('one changed byte anywhere is noticed', () => {
  const pushes = [
    { series: 7, sequenceNumber: 3, datapoints: [{ value: 'wet', receivedAt: 5 }], last: 0 },
  ];
  const bytes = encodePushes(pushes);
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x20;
    assert.throws(() => decodePushes(damaged), /damaged/);
  }
});
