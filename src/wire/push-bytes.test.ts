import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { date, gap, numberText, timestampText } from '../../test/hostile-json.ts';
import { limits } from '../domain/limits.ts';
import { parseJson } from '../lib/json.ts';
import { readBareValue } from './bare-value.ts';
import { bareNumberOf, createPushByteReader } from './byte-cursor.ts';
import { readDatapoints } from './datapoint.ts';

const readPlain = createPushByteReader();

/** What is read from the bytes is what the ordinary reader reads; it may leave anything to that. */
function assertSame(bytes: Uint8Array): 'read' | 'left' {
  const found = readPlain(bytes);
  if (found === undefined) return 'left';
  assert.ok(isUtf8(bytes), 'bytes that are no text were read');
  const text = Buffer.from(bytes).toString();
  assert.deepStrictEqual(
    [found],
    readDatapoints(parseJson(text, limits.jsonDepthMax)).datapoints,
    text,
  );
  return 'read';
}

const usualNumber = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((n) => n.toFixed(3));
const usual = fc
  .tuple(usualNumber, fc.option(date), fc.constantFrom('', ' '), fc.boolean())
  .map(([value, timestamp, space, isTimestampFirst]) => {
    const members = [`"value":${space}${value}`];
    if (timestamp !== null) members.push(`"timestamp":${space}"${timestamp}"`);
    if (isTimestampFirst) members.reverse();
    return `{${members.join(`,${space}`)}}`;
  });

const oddMember = fc.oneof(
  fc.tuple(fc.constant('"value"'), numberText),
  fc.tuple(fc.constant('"timestamp"'), timestampText),
  fc.tuple(
    fc.constantFrom('"__proto__"', '"valuE"', '"\\u0076alue"', 'value', '"value":"timestamp"'),
    fc.constantFrom('1', '"x"', 'null', '[1]', '{"value":1}', '""', ''),
  ),
);

/** Objects that are usual, or nearly so: in any order, with something odd beside what is plain. */
const hostile = fc
  .tuple(
    fc.oneof(usualNumber, numberText, fc.constantFrom('null', '"1"', '[]', 'true', '')),
    fc.oneof(
      date.map((text) => `"${text}"`),
      timestampText.map((text) => `"${text}"`),
      fc.constantFrom('null', '7', ''),
    ),
    fc.array(oddMember, { maxLength: 1 }),
    fc.tuple(gap, gap, gap),
    fc.constantFrom('}', '}', '}', '}', '', ',}', '}}', '} x', '}\r', '}\0'),
    fc.constantFrom(',', ',', ',', ',,', ':', ' '),
    fc.infiniteStream(fc.nat({ max: 3 })),
  )
  .map(([value, timestamp, odd, [before, around, behind], end, comma, order]) => {
    const members: (readonly [string, string])[] = [];
    for (const one of [['"value"', value], ['"timestamp"', timestamp], ...odd] as const) {
      members.splice(order.next().value % (members.length + 1), 0, one);
    }
    const list = members.map(([key, text]) => `${around}${key}${before}:${around}${text}${behind}`);
    return `${before}{${list.join(comma)}${end}${behind}`;
  });

test('a usual push is read from its bytes, with its timestamp first, behind or absent', () => {
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
    { numRuns: 10_000 },
  );
  // About 150.
  assert.ok(taken > 30, `only ${taken} were read from their bytes`);
});

test('nor do changed bytes make a difference, be they text or not', () => {
  const change = fc.tuple(fc.nat({ max: 70 }), fc.oneof(fc.nat({ max: 255 }), fc.constant(34)));
  fc.assert(
    fc.property(usual, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
      const bytes = Buffer.from(text);
      for (const [at, code] of changes) if (at < bytes.length) bytes[at] = code;
      assertSame(bytes);
    }),
    { numRuns: 10_000 },
  );
});

test('numbers are the doubles that JSON.parse reads', () => {
  fc.assert(
    fc.property(numberText, (number) => {
      assertSame(Buffer.from(`{"value":${number}}`));
    }),
    { numRuns: 10_000 },
  );
});

test('a push that is cut, or has a second value, is left to the ordinary reader', () => {
  const text = '{"value":12.5,"timestamp":"2016-06-08T18:20:27.873Z"}';
  const body = Buffer.from(text);
  for (let end = 0; end < text.length; end += 1) {
    // What follows in the same memory must not complete it.
    assert.equal(readPlain(body.subarray(0, end)), undefined, text.slice(0, end));
  }
  const others = [
    '{"value":"timestamp":"2016-06-08T18:20:27.873Z","value":1}',
    '{"value":1,"value":2}',
    '{"value":1,"timestamp":"2016-06-08T18:20:27Z","value":2}',
    `{"value":1${' '.repeat(200)}}`,
    '{"value":1}{"value":2}',
    '\ufeff{"value":1}',
  ];
  for (const other of others) assert.equal(readPlain(Buffer.from(other)), undefined, other);
});

test('a number alone is read from its bytes as from its text, or left to that', () => {
  const readings = { read: 0, left: 0 };
  const nearly = fc.tuple(
    fc.oneof(usualNumber, numberText, fc.stringMatching(/^[-+]?\d{1,17}([.eE]\d{0,3})?$/)),
    fc.constantFrom('', '', ' ', '\0', '0', '.', 'e3', '-', '\u{feff}'),
  );
  const check = (text: string) => {
    const found = bareNumberOf(Buffer.from(text));
    readings[Number.isNaN(found) ? 'left' : 'read'] += 1;
    if (!Number.isNaN(found)) assert.ok(Object.is(found, readBareValue(text)), text);
  };
  fc.assert(fc.property(nearly, ([text, end]) => check(text + end)));
  fc.assert(fc.property(nearly, ([text, start]) => check(start + text)));
  assert.ok(readings.read > 9 && readings.left > 9, JSON.stringify(readings));
  for (const text of ['12E3', '1e5', '007', '-', '', '.5', '5.', '1-2', '21.5 ']) check(text);
  assert.equal(bareNumberOf(Buffer.from('-0')), 0);
  assert.equal(bareNumberOf(Buffer.from('21.50')), 21.5);
});
