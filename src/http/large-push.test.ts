import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { guest } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { PushedDatapoints } from '../wire/datapoint.ts';
import { createTakeLargePush, type LargeBody } from '../wire/large-push.ts';
import { readPushBody } from './body.ts';
import { datapointsOf } from './v2/datapoints.ts';

const sensor = { deviceId: parseDeviceId('d'), sensorId: parseSensorId('s') };

/** What is read of a body piece by piece, or the refusal. */
async function inPieces(
  text: string,
  type: LargeBody['type'] = 'json',
  valueBytesMax = 1_000,
  sliceBytes = 7,
) {
  const take = createTakeLargePush({ valueBytesMax, isUtf8, sliceBytes });
  let read: unknown;
  const push = {
    body: { bytes: Buffer.from(text), type },
    ...{ actor: guest, sensor, csv: {} },
  };
  try {
    await take(push, async (pushed) => {
      read = shown(pushed);
    });
    return read;
  } catch (error) {
    return refusalIn(error);
  }
}

/** What is stored, and what is refused. */
const shown = ({ datapoints, refused }: PushedDatapoints) => ({
  datapoints: Array.from({ length: datapoints.length }, (_, at) => datapoints.at(at)),
  refused: (refused?.kinds() ?? []).map(({ elements, count }) => ({ elements, count })),
});

/** The same in one go. */
async function atOnce(text: string, type: 'application/json' | 'text/csv' = 'application/json') {
  try {
    const body = readPushBody(Buffer.from(text), type);
    if (body.kind === 'large') return await inPieces(text, 'json', 1_000, 1_000_000);
    return shown(datapointsOf(body, sensor, {}));
  } catch (error) {
    return refusalIn(error);
  }
}

function refusalIn(error: unknown): string {
  if (error instanceof DomainError) return `${error.code}: ${error.message}`;
  throw error;
}

const datapoint = fc.record(
  {
    value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant('"]},{\\"')),
    timestamp: fc.constantFrom('2026-01-01T00:00:00Z', 'yesterday', null),
  },
  { requiredKeys: [] },
);

/** Excerpts are what was read, white space included, or its shortest form. */
const withoutSpace = (read: unknown): unknown =>
  JSON.parse(JSON.stringify(read), (key, value) => (key === 'excerpt' ? '' : value));

test('a body of more than 128 KiB is read piece by piece, of whatever kind', () => {
  const kindOf = (text: string, type = 'application/json') =>
    readPushBody(Buffer.from(text), type).kind;
  const objects = (count: number) => `[${'{"value":1},'.repeat(count)}{"value":1}]`;
  assert.equal(kindOf(objects(5_000)), 'json');
  assert.equal(kindOf(objects(11_000)), 'large');
  assert.equal(kindOf(`[${'[1],'.repeat(40_000)}1]`), 'large');
  assert.equal(kindOf(`{"value":["${'x'.repeat(140_000)}"]}`), 'large');
  assert.equal(kindOf('1,'.repeat(70_000), 'text/plain'), 'large');
  assert.equal(kindOf('1\n'.repeat(1_000), 'text/csv'), 'csv');
  assert.equal(kindOf('1\n'.repeat(8_000), 'text/csv'), 'large');
  const line = '2026-01-01T00:00:00Z,1\n';
  assert.equal(kindOf(`timestamp,value\n${line.repeat(6_000)}`, 'text/csv'), 'large');
});

test('an array is read piece by piece as it is read in one go', async () => {
  const arrays = fc.array(fc.oneof({ weight: 9, arbitrary: datapoint }, fc.jsonValue()), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(arrays, fc.constantFrom(undefined, 1), async (array, indent) => {
      const text = JSON.stringify([{ value: 1 }, ...array], null, indent);
      assert.deepEqual(withoutSpace(await inPieces(text)), withoutSpace(await atOnce(text)));
    }),
    { numRuns: 300 },
  );
});

test('a broken array is refused as it is in one go, at the same character', async () => {
  const texts = fc
    .array(datapoint, { minLength: 1, maxLength: 8 })
    .map((array) => JSON.stringify([{ value: 'ä😀' }, ...array]));
  const break_ = fc.record({
    at: fc.nat(400),
    by: fc.constantFrom('', '}', ']', ',', '{', '[', '"', 'x', ' '),
  });
  await fc.assert(
    fc.asyncProperty(texts, break_, async (text, { at, by }) => {
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + by + text.slice(place + 1);
      if (broken.isWellFormed() && broken !== '') {
        const whole = await atOnce(broken);
        const pieces = await inPieces(broken);
        // Where several things are wrong, either may be reported.
        if (typeof whole !== 'string') assert.deepEqual(withoutSpace(pieces), withoutSpace(whole));
        else assert.equal(typeof pieces, 'string', `${broken}: ${JSON.stringify(pieces)}`);
      }
    }),
    { numRuns: 500 },
  );
  for (const broken of [
    '[{"value":1},{"value":2]',
    '[{"value":1},{"value":2}',
    '[{"value":1},{"value":2},]',
    '[{"value":1},{"value":2}] x',
    '[{"value":"ä"},{"value":tru}]',
    '[{"value":1},,,,,,,,,,,,,,,,{"value":2}]',
  ]) {
    assert.deepEqual(await inPieces(broken), await atOnce(broken), broken);
  }
});

test('a value that is too large is refused before it is read', async () => {
  const large = 'x'.repeat(2_000);
  for (const text of [
    JSON.stringify(large),
    JSON.stringify({ value: large }),
    `[${'1,'.repeat(2_000)}1]`,
  ]) {
    assert.match(String(await inPieces(text, 'json', 100)), /^too_large: the value/);
  }
  assert.match(String(await inPieces(large, 'text', 100)), /^too_large: the value/);
  const one = await inPieces(JSON.stringify([{ value: 1 }, { value: large }]), 'json', 100);
  assert.match(
    JSON.stringify(one),
    /"datapoints":\[{"value":1}],.*the value of datapoint 2 has more/,
  );
});

test('CSV is read piece by piece as it is read in one go', async () => {
  for (const text of [
    'timestamp,value\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,"a ""b"", c"\n',
    '2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,2',
    'timestamp,value\nyesterday,1\n',
    'timestamp,value\n2026-01-01T00:00:00Z,"1\n',
  ]) {
    assert.deepEqual(await inPieces(text, 'csv'), await atOnce(text, 'text/csv'));
  }
});

test('CSV is read a few thousand rows at a time, however short they are', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 10));
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const rows = 40_000;
  const read = await inPieces(`value\n${'1\n'.repeat(rows)}x`, 'csv', 1_000, 1_000_000);
  isOver = true;
  assert.equal((read as { datapoints: unknown[] }).datapoints.length, rows + 1);
  assert.ok(turns > rows / 4_096, `${turns} turns`);
});

test('CSV that is no larger than a usual body does not wait behind large pushes', async () => {
  const take = createTakeLargePush({ valueBytesMax: 1_000, isUtf8 });
  const push = (text: string, type: LargeBody['type']) => ({
    body: { bytes: Buffer.from(text), type },
    ...{ actor: guest, sensor, csv: {} },
  });
  const never = new Promise<void>(() => undefined);
  const large = push(`[${'{"value":1},'.repeat(20_000)}{"value":1}]`, 'json');
  for (let count = 0; count < 3; count += 1) void take(large, () => never);
  let rows = 0;
  await take(push(`value\n${'1\n'.repeat(8_000)}`, 'csv'), async ({ datapoints }) => {
    rows = datapoints.length;
  });
  assert.equal(rows, 8_000);
});
