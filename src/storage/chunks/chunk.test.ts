import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import type { JsonValue } from '../../lib/json.ts';
import { blocksOf, columnsOf, encodeChunk, toBlock } from './chunk.ts';
import { cutColumns } from './column-pieces.ts';
import { type Columns, datapointAt, toColumns } from './columns.ts';

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

/** In blocks of 16. */
function encoded(points: readonly Datapoint[]): Buffer {
  const limits = { chunkDatapointsMax: 16, chunkWeightMax: 1_000 };
  return encodeChunk(cutColumns(toColumns(points), limits, 'fill').map(toBlock));
}

function decoded(bytes: Uint8Array, name: string): Datapoint[] {
  return blocksOf(bytes, name).flatMap((block) => toList(columnsOf(block, name)));
}

const toList = (columns: Columns): Datapoint[] =>
  Array.from({ length: columns.count }, (_, at) => datapointAt(columns, at));

const roundTrip = (points: readonly Datapoint[]): Datapoint[] => decoded(encoded(points), '1');

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

test('-0, the least double and the largest integers come back to their last bit', () => {
  const odd = [-0, 0, 5e-324, 2 ** 53, -(2 ** 53), 2 ** 50 + 1, 1.7976931348623157e308, 0.1 + 0.2];
  for (const rest of [[1.5, 2.25, 21.7], [0.1], [1 / 3, 2 / 3]]) {
    const values = Array.from({ length: 300 }, (_, at) => rest[at % rest.length] ?? 0);
    for (const [at, value] of odd.entries()) values[at * 31 + 5] = value;
    const points = values.map((value, at) => ({ value, receivedAt: noon + at }));
    assert.ok(roundTrip(points).every(({ value }, at) => Object.is(value, values[at])));
  }
});

test('one odd number does not make the others long', () => {
  const points = Array.from({ length: 1_024 }, (_, at) => ({
    value: at === 500 ? Math.PI : Math.round(200 + ((at * 7_919) % 50)) / 10,
    timestamp: noon + at * minute,
    receivedAt: noon,
  }));
  const { length } = toBlock(toColumns(points)).bytes;
  assert.ok(length <= points.length, `${length / points.length} bytes a datapoint`);
});

test('a chunk of format 1 or of one to come is refused, and the former says what to do', () => {
  const bytes = encodeChunk([toBlock(toColumns([{ value: 1, receivedAt: noon }]))]);
  for (const [format, says] of [
    [1, /chunk 7: .*format 1.*kipimo compact/],
    [3, /chunk 7: .*unknown format 3/],
  ] as const) {
    bytes[0] = format;
    assert.throws(() => blocksOf(bytes, '7'), says);
  }
});

test('smooth values of every minute take at most two bytes each, received when they may', () => {
  const points = Array.from({ length: 1_024 }, (_, at) => ({
    value: Math.round(200 + 50 * Math.sin(at / 100) + ((at * 7_919) % 5)) / 10,
    timestamp: noon + at * minute,
    receivedAt: noon + at * minute + 200 + ((at * 7_907) % 400),
  }));
  const { length } = toBlock(toColumns(points)).bytes;
  assert.ok(length <= 2 * points.length, `${length / points.length} bytes a datapoint`);
});

test('one changed byte anywhere is noticed, and the error names the chunk', () => {
  const points = Array.from({ length: 40 }, (_, at) => ({ value: at, receivedAt: noon + at }));
  const bytes = encoded(points);
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x15;
    assert.throws(() => decoded(damaged, '77'), /chunk 77/);
  }
});

test('bytes that are no chunk are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.throws(() => decoded(bytes, '5'), /chunk 5/);
    }),
  );
});
