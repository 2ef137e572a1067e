import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import type { JsonValue } from '../../lib/json.ts';
import { decodeChunk, encodeChunk } from './chunk-codec.ts';
import { datapointAt, toColumns } from './columns.ts';

const minute = 60_000;
const noon = Date.UTC(2026, 5, 1, 12);

const instant = fc.oneof(
  fc.integer({ min: noon, max: noon + 1_000 * minute }),
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.constantFrom(0, -1, 8.64e15, -8.64e15),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.integer({ min: -500, max: 500 }).map((tenths) => tenths / 10),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom('on', 'off', true, false, null, '\ud800', '\0', 0.1, 1e308, 5e-324),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<JsonValue>,
  fc.bigInt().map((big) => JSON.rawJSON(`${big}`)),
);

function datapoints(kind: fc.Arbitrary<JsonValue>): fc.Arbitrary<Datapoint[]> {
  const timed = fc.record({ value: kind, timestamp: instant, receivedAt: instant });
  const untimed = fc.record({ value: kind, receivedAt: instant });
  const some = fc.oneof(
    fc.array(timed, { maxLength: 60 }),
    fc.array(untimed, { maxLength: 60 }),
    fc.array(fc.oneof(timed, untimed), { maxLength: 60 }),
  );
  return some.map((points) => points.sort((a, b) => orderTime(a) - orderTime(b)));
}

function roundTrip(points: readonly Datapoint[]): Datapoint[] {
  const columns = decodeChunk(encodeChunk(toColumns(points)), '1');
  return Array.from({ length: columns.count }, (_, at) => datapointAt(columns, at));
}

// The same datapoint as text: -0 is 0 in JSON, and numbers of many digits compare by their digits.
function asText(points: readonly Datapoint[]): string[] {
  return points.map(({ value: kept, timestamp, receivedAt }) =>
    JSON.stringify([kept, timestamp ?? 'none', receivedAt]),
  );
}

test('any datapoints come back as they were, and in their order', () => {
  fc.assert(
    fc.property(datapoints(value), (points) => {
      assert.deepEqual(asText(roundTrip(points)), asText(points));
    }),
    { numRuns: 300 },
  );
});

test('any numbers come back exactly', () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: -1e9, max: 1e9 }).map((scaled) => scaled / 1e4),
    fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
  );
  fc.assert(
    fc.property(datapoints(numbers), (points) => {
      assert.deepEqual(asText(roundTrip(points)), asText(points));
    }),
    { numRuns: 300 },
  );
});

test('a chunk without datapoints is possible', () => {
  assert.deepEqual(roundTrip([]), []);
});

test('smooth values of every minute take at most four bytes each', () => {
  const points = Array.from({ length: 1_024 }, (_, at) => ({
    value: Math.round(200 + 50 * Math.sin(at / 100) + ((at * 7_919) % 5)) / 10,
    timestamp: noon + at * minute,
    receivedAt: noon + at * minute + 200 + ((at * 7_907) % 400),
  }));
  const { length } = encodeChunk(toColumns(points));
  assert.ok(length <= 4 * points.length, `${length / points.length} bytes a datapoint`);
});

test('one changed byte anywhere is noticed, and the error names the chunk', () => {
  const points = Array.from({ length: 40 }, (_, at) => ({ value: at, receivedAt: noon + at }));
  const bytes = encodeChunk(toColumns(points));
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x15;
    assert.throws(() => decodeChunk(damaged, '77'), /chunk 77/);
  }
});

test('bytes that are no chunk are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.throws(() => decodeChunk(bytes, '5'), /chunk 5/);
    }),
  );
});
