import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOfStep } from '../../test/bulk-lines.ts';
import { date, gap, numberText, timestampText } from '../../test/hostile-json.ts';
import { BulkStep } from '../domain/datapoints/bulk-step.ts';
import { limits } from '../domain/limits.ts';
import { createBulkByteReader, readBulkLine } from './bulk.ts';

const readBytes = createBulkByteReader();

/** Reads the bytes between others, as they stand in a body. */
function readBetween(bytes: Uint8Array, before: string, after: string, line = 7) {
  const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
  const start = Buffer.byteLength(before);
  const step = new BulkStep();
  const isRead = readBytes(body, start, start + bytes.length, line, step);
  const lines = linesOfStep(step);
  step.end();
  assert.equal(lines.length, isRead ? 1 : 0);
  return lines[0];
}

/** What is read from the bytes is what the ordinary reader reads; it may leave anything to that. */
function assertSame(bytes: Uint8Array, before = '{"', after = '9}'): 'read' | 'left' {
  const found = readBetween(bytes, before, after);
  if (found === undefined) return 'left';
  assert.ok(isUtf8(bytes), 'bytes that are no text were read');
  assert.deepStrictEqual(found, readBulkLine(Buffer.from(bytes).toString(), 7));
  return 'read';
}

const idText = fc.oneof(
  fc.constantFrom('bench-1', 'S1', 'a', '.', '..', '', 'a b', 'a"b', 'é', '\u0000', 'constructor'),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('x'.repeat(limits.idCharactersMax), 'x'.repeat(limits.idCharactersMax + 1)),
);
const quoted = fc.oneof(
  idText.map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\u0061"', '"\\ud800"', 'null', '7', '{}', '"a', '"a\tb"'),
);
const plainId = fc.stringMatching(/^"[a-z0-9]{1,8}"$/);
const plainNumber = fc.integer({ min: -1e6, max: 1e6 }).map((n) => String(n / 100));
/** What is no number, or nearly one of these. */
const otherText = fc.oneof(
  quoted,
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => JSON.stringify(text)),
  fc.stringMatching(/^"[ -~]{0,260}"$/),
  fc.constantFrom('true', 'false', 'null', 'True', 'nul', 'trueish', 'true"a"', '"a""b"', '"a"1'),
  fc.constantFrom('1e99"abc"', '-', '-true', 'NaN', 'Infinity', '[1]', '{"a":1}', "'a'", ''),
);
const oddMember = fc.oneof(
  fc.tuple(fc.constant('"value"'), fc.oneof(numberText, otherText)),
  fc.tuple(fc.constantFrom('"device_id"', '"sensor_id"', '"timestamp"'), quoted),
  fc.tuple(
    fc.constantFrom('"__proto__"', '"valuE"', '"\\u0076alue"', 'value', '"value "', '"unit"'),
    fc.constantFrom('1', '"x"', 'null', '[1]', '{"value":1}'),
  ),
);

/** Objects that are usual, or nearly so: in any order, with something odd beside what is plain. */
const hostile = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: plainId }, { weight: 1, arbitrary: quoted }),
    fc.oneof({ weight: 4, arbitrary: plainId }, { weight: 1, arbitrary: quoted }),
    fc.oneof(
      { weight: 2, arbitrary: plainNumber },
      { weight: 1, arbitrary: numberText },
      { weight: 2, arbitrary: otherText },
    ),
    fc.oneof({ weight: 2, arbitrary: date }, { weight: 1, arbitrary: timestampText }),
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(oddMember, { maxLength: 1 })),
    fc.tuple(gap, gap, gap),
    fc.constantFrom('}', '}', '}', '}', '', ',}', '}}', '} x', '}\r'),
    fc.infiniteStream(fc.nat({ max: 5 })),
  )
  .map(([device, sensor, value, timestamp, odd, [before, around, behind], end, order]) => {
    const members: (readonly [string, string])[] = [];
    const all = [
      ['"device_id"', device],
      ['"sensor_id"', sensor],
      ['"value"', value],
      ['"timestamp"', `"${timestamp}"`],
      ...odd,
    ] as const;
    for (const one of all) members.splice(order.next().value % (members.length + 1), 0, one);
    const list = members.map(([key, text]) => `${around}${key}${before}:${around}${text}${behind}`);
    return `${before}{${list.join(',')}${end}${behind}`;
  });

const usual = fc
  .tuple(
    fc.shuffledSubarray(['device_id', 'sensor_id', 'value', 'timestamp'], { minLength: 4 }),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
    fc.oneof(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((n) => n.toFixed(3)),
      fc.double({ min: 1e-6, max: 1e20, noNaN: true }).map(String),
      fc.constantFrom('true', 'false', 'null'),
      fc.stringMatching(/^"[a-z ]{0,20}"$/),
    ),
    date,
  )
  .map(([keys, device, sensor, value, timestamp]) => {
    const of = new Map([
      ['device_id', `"${device}"`],
      ['sensor_id', `"${sensor}"`],
      ['value', value],
      ['timestamp', `"${timestamp}"`],
    ]);
    return `{${keys.map((key) => `"${key}":${of.get(key)}`).join(',')}}`;
  });

test('elements of the usual shape are read from their bytes, with their keys in any order', () => {
  fc.assert(
    fc.property(usual, (text) => {
      assert.equal(assertSame(Buffer.from(text)), 'read', text);
    }),
    { numRuns: 1_000 },
  );
});

test('what is read from bytes is what the ordinary reader reads, however hostile', () => {
  let taken = 0;
  fc.assert(
    fc.property(hostile, (text) => {
      if (assertSame(Buffer.from(text)) === 'read') taken += 1;
    }),
    { numRuns: 5_000 },
  );
  assert.ok(taken > 100, `only ${taken} were read from their bytes`);
});

test('a line after another one is read as it is alone, however alike both are', () => {
  const ids = fc.constantFrom('"a"', '"b"', '"ab"', '"a', '7');
  const value = fc.oneof(numberText, otherText, plainNumber);
  const member = fc.oneof(
    fc.tuple(fc.constantFrom('"device_id"', '"sensor_id"'), ids),
    fc.tuple(fc.constant('"value"'), value),
    fc.tuple(fc.constant('"timestamp"'), fc.constantFrom('"2016-06-08T18:20:27Z"', '"2016"')),
  );
  const usualStart = fc.tuple(ids, ids).map(([device, sensor]): [string, string][] => [
    ['"device_id"', device],
    ['"sensor_id"', sensor],
  ]);
  const start = fc.oneof(usualStart, usualStart, fc.array(member, { maxLength: 3 }));
  const rest = fc.tuple(value, fc.array(member, { maxLength: 2 }));
  const line = fc
    .tuple(start, rest, fc.constantFrom('}', '}', '}', '', '}}'))
    .map(([first, [own, others], end]) => {
      const members = [...first, ['"value"', own], ...others];
      return `{${members.map(([key, text]) => `${key}:${text}`).join(',')}${end}`;
    });
  fc.assert(
    fc.property(fc.array(line, { minLength: 2, maxLength: 6 }), (lines) => {
      for (const text of lines) assertSame(Buffer.from(text));
    }),
    { numRuns: 5_000 },
  );
});

test('a line that is not read leaves nothing behind for one that begins as the line before', () => {
  const usualLine = '{"device_id":"a","sensor_id":"b","value":1}';
  const left = '{"timestamp":"2016-06-08T18:20:27Z","device_id":"a","value":{},"sensor_id":"b"}';
  const twice = '{"device_id":"a","sensor_id":"b","value":1,"sensor_id":"a"}';
  for (const text of [usualLine, left, twice, usualLine]) assertSame(Buffer.from(text));
});

test('nor do changed bytes make a difference, be they text or not', () => {
  const change = fc.tuple(fc.nat({ max: 120 }), fc.oneof(fc.nat({ max: 255 }), fc.constant(34)));
  fc.assert(
    fc.property(usual, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
      const bytes = Buffer.from(text);
      for (const [at, code] of changes) if (at < bytes.length) bytes[at] = code;
      assertSame(bytes);
    }),
    { numRuns: 5_000 },
  );
});

test('an element that is cut anywhere is not completed by what follows it', () => {
  const text =
    '{"device_id":"d","sensor_id":"s","value":12.5,"timestamp":"2016-06-08T18:20:27.873Z"}';
  for (let end = 0; end < text.length; end += 1) {
    const found = readBetween(Buffer.from(text.slice(0, end)), '', text.slice(end));
    assert.equal(found, undefined, text.slice(0, end));
  }
});

test('numbers are the doubles that JSON.parse reads', () => {
  fc.assert(
    fc.property(numberText, (number) => {
      assertSame(Buffer.from(`{"device_id":"d","sensor_id":"s","value":${number}}`));
    }),
    { numRuns: 5_000 },
  );
});

test('more sensors than are remembered keep their own ids', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 10_000; index += 1) {
      const text = `{"device_id":"d${index}","sensor_id":"s${index % 7}","value":1}`;
      assert.equal(assertSame(Buffer.from(text)), 'read');
    }
  }
});
