import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../domain/errors.ts';
import { type LinePoint, readLinePoint } from './line-protocol.ts';

function read(line: string): LinePoint {
  const point = readLinePoint(line);
  assert.ok(point !== undefined, line);
  return point;
}

const refuses = (line: string, saying: RegExp): void =>
  assert.throws(
    () => readLinePoint(line),
    (reason) =>
      reason instanceof DomainError && reason.code === 'invalid' && saying.test(reason.message),
    line,
  );

const escaped = (word: string): string => word.replace(/[,= ]/g, '\\$&');
const quotedText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

// A backslash at the end would escape what follows the word: the protocol cannot say it.
const word = fc
  .string({
    unit: fc.constantFrom('a', 'B', '0', ',', '=', ' ', '\\', '"', '#', '測'),
    minLength: 1,
  })
  .filter((text) => !text.endsWith('\\'));
// In these a backslash before a quote takes its meaning away, too.
const measurement = word.filter((text) => !text.startsWith('#') && !text.includes('\\"'));
const fieldName = word.filter((text) => !/\\[,= "\\]/.test(text));
const text = fc.string({ unit: fc.constantFrom('a', ',', '=', ' ', '\\', '"', '測', '#') });
const value = fc.oneof(
  text.map((content) => [quotedText(content), content] as const),
  fc.integer().map((number) => [`${number}i`, number] as const),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => {
    const shown = String(number);
    return [shown, JSON.parse(shown) as number] as const;
  }),
  fc.constantFrom(['t', true] as const, ['FALSE', false] as const),
);

test('what was escaped is read back', () => {
  fc.assert(
    fc.property(
      measurement,
      fc.uniqueArray(fc.tuple(word, word), { maxLength: 4, selector: ([key]) => key }),
      fc.uniqueArray(fc.tuple(fieldName, value), {
        ...{ minLength: 1, maxLength: 4, selector: ([key]) => key },
      }),
      fc.option(fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }), { nil: undefined }),
      (name, tags, fields, time) => {
        const head = [name, ...tags.flat()].map(escaped);
        const pairs = tags.map((_, at) => `,${head[2 * at + 1]}=${head[2 * at + 2]}`).join('');
        const values = fields.map(([key, [shown]]) => `${escaped(key)}=${shown}`).join(',');
        const line = `${head[0]}${pairs} ${values}${time === undefined ? '' : ` ${time}`}`;
        const point = read(line);
        assert.equal(point.measurement, name);
        assert.deepEqual([...point.tags], tags);
        assert.deepEqual(
          point.fields.map(([key, content]) => [key, content]),
          fields.map(([key, [, content]]) => [key, content]),
        );
        assert.equal(point.time, time?.toString());
      },
    ),
  );
});

test('any text is a point, nothing, or refused with a sentence', () => {
  const unit = fc.constantFrom(
    'a',
    '1',
    'e',
    '.',
    '-',
    ',',
    '=',
    ' ',
    '\\',
    '"',
    '#',
    'i',
    '\r',
    '測',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit }), fc.string({ unit: 'binary' })), (line) => {
      try {
        readLinePoint(line);
      } catch (reason) {
        assert.ok(reason instanceof DomainError);
        assert.equal(reason.code, 'invalid');
        assert.match(reason.message, /\w \w.*\(character \d+\)$/);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('empty lines and comments are nothing', () => {
  for (const line of ['', ' ', '\r', '# a comment', '  # indented']) {
    assert.equal(readLinePoint(line), undefined, JSON.stringify(line));
  }
});

test('numbers keep their digits, and are refused when JSON cannot say them', () => {
  const jsonOf = (shown: string) => JSON.stringify(read(`m v=${shown}`).fields[0]?.[1]);
  assert.equal(jsonOf('9223372036854775807i'), '9223372036854775807');
  assert.equal(jsonOf('18446744073709551615u'), '18446744073709551615');
  assert.equal(jsonOf('007'), '7');
  assert.equal(jsonOf('.5'), '0.5');
  assert.equal(jsonOf('-.5e-3'), '-0.0005');
  assert.equal(jsonOf('1.'), '1');
  for (const shown of ['+1.5', '1e999', 'NaN', 'inf', '0x1', '1.5i', 'i', '--1', '1e', 'yes']) {
    refuses(`m v=${shown}`, /must be a number/);
  }
});

test('what is wrong is told with its place', () => {
  refuses(' v=1', /name of a field is missing/);
  refuses('m,a=1,a=2 v=1', /tag a is given twice/);
  refuses('m,a=1=2 v=1', /write \\= for an equals sign/);
  refuses('m v="a"b', /follows the double quotes/);
  refuses('m v=9223372036854775808i', /no integer of 64 bits/);
  refuses('m v=-1u', /no integer of 64 bits/);
  refuses('m', /name of a field is missing \(character 2\)/);
  refuses('m v', /name=value \(character 4\)/);
  refuses('m v=', /value of v is missing \(character 5\)/);
  refuses('m,t v=1', /tag must be name=value/);
  refuses('m,t= v=1', /tag t is missing/);
  refuses('m,=x v=1', /name of a tag is missing/);
  refuses('m v="open', /not closed/);
  refuses('m v="open\\"', /not closed/);
  refuses('m v=1 noon', /timestamp must be a whole number/);
  refuses('m v=1 1 2', /timestamp must be a whole number/);
  refuses(`m v=1 ${'1'.repeat(21)}`, /timestamp must be a whole number/);
});

test('tags and fields have an end', () => {
  const many = (count: number, of: string) =>
    Array.from({ length: count }, (_, at) => `${of}${at}=1`);
  assert.equal(read(`m ${many(1_000, 'f').join(',')}`).fields.length, 1_000);
  refuses(`m ${many(1_001, 'f').join(',')}`, /1000 fields/);
  assert.equal(read(`m,${many(100, 't').join(',')} f=1`).tags.size, 100);
  refuses(`m,${many(101, 't').join(',')} f=1`, /100 tags/);
});

test('a long line of one character is refused, whichever it is', () => {
  for (const character of ['a', '\\', '=', ',', '"', '1', '.', '\\ ', '\\,']) {
    const long = character.repeat(500_000);
    for (const line of [`m${long}`, `m v=${long}x`, `m v="${long}`, `m v=1 ${long}x`]) {
      assert.throws(() => readLinePoint(line), DomainError);
    }
  }
});
