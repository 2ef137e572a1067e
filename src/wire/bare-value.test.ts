import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../domain/errors.ts';
import { isBigNumber, JsonError, type JsonValue } from '../lib/json.ts';
import {
  bytesWithoutPadding,
  readBareValue,
  readJsonOrText,
  readPayloadValue,
} from './bare-value.ts';

const jsonOf = (value: JsonValue): string => JSON.stringify(value);

test('a decimal number is a number, whatever else has digits is a text', () => {
  const numbers = [
    '0',
    '-0.5',
    '21.50',
    '1e5',
    '1E5',
    '1.2E-3',
    '12E-3',
    '12e+3',
    '-12E3',
    '1.0e9',
  ];
  for (const text of numbers) assert.equal(readBareValue(text), Number(text), text);
  const texts = ['0264.342', '007', '-007', '00', '+5', '.5', '5.', '1,5', '241408E4', '12E3'];
  texts.push(
    '0x10',
    '1e',
    '1e5.5',
    '--1',
    '1 2',
    '1_000',
    'hot',
    'undefined',
    '1e999',
    'true',
    '{',
  );
  for (const text of texts) assert.equal(readBareValue(text), text);
  assert.equal(jsonOf(readBareValue('12345678901234567890')), '12345678901234567890');
});

test('what a failed probe prints is refused, in any spelling', () => {
  const words = ['nan', 'NaN', 'NAN', '-nan', '+nan', 'inf', '-INF', 'Infinity', ' nan ', 'nan\0'];
  words.push('-nan(ind)', 'nan(0x7f)', '1.#INF', '-1.#IND', '1.#QNAN', '-1.#IND00');
  for (const word of words) {
    assert.throws(() => readBareValue(word), /is no number: send nothing/, word);
    assert.throws(() => readPayloadValue(word, 9), DomainError, word);
    assert.throws(() => readJsonOrText(word, 9), Error, word);
  }
  for (const word of ['nano', 'info', 'inf.', 'nan C', 'banana', '1.#', 'nan(']) {
    assert.equal(readBareValue(word), word);
  }
});

test('the rule is that of a plain pattern, whatever the text', () => {
  const unit = fc.constantFrom(...'0123456789'.split(''), '-', '+', '.', 'e', 'E', 'x', ' ', '\0');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 9 }), (text) => {
      const kept = text.replace(/[\s\0]+$/, '');
      const value = readBareValue(text);
      const match = /^(-?)(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.exec(kept.trim());
      const [, minus = '', whole = '', fraction, exponent] = match ?? [];
      const isVersion =
        exponent !== undefined &&
        fraction === undefined &&
        minus === '' &&
        !/[-+]/.test(exponent) &&
        whole.length > 1;
      const isNumber = match !== null && !isVersion && Number.isFinite(Number(kept));
      assert.equal(typeof value === 'number' || isBigNumber(value), isNumber, text);
      if (isNumber) assert.equal(Number(jsonOf(value)) + 0, Number(kept) + 0);
      else assert.equal(value, kept);
    }),
    { numRuns: 3_000 },
  );
});

test('a byte order mark before, and NULs and white space after, are dropped', () => {
  const pads = fc.string({ unit: fc.constantFrom('\0', ' ', '\n', '\r', '\t') });
  const marks = fc.constantFrom('', '\u{feff}');
  const cases = fc.constantFrom('21.5', '"a b"', '{"value": 21.5}', 'hot water', '[1,2]', 'true');
  fc.assert(
    fc.property(marks, cases, pads, (mark, text, pad) => {
      const padded = mark + text + pad;
      assert.deepEqual(readPayloadValue(padded, 9), readPayloadValue(text, 9));
      assert.equal(bytesWithoutPadding(Buffer.from(padded)).toString(), text);
    }),
  );
});

test('JSON that is said to be JSON stays JSON; what begins like it is no text', () => {
  assert.equal(readJsonOrText('12E3', 9), 12_000);
  assert.equal(readPayloadValue('12E3', 9), '12E3');
  assert.equal(readJsonOrText('0264.342', 9), '0264.342');
  for (const text of ['{"value": 2', '[1,', '"open']) {
    assert.throws(() => readJsonOrText(text, 9), JsonError);
    assert.throws(() => readPayloadValue(text, 9), JsonError);
  }
  assert.throws(() => readJsonOrText('1e999', 9), JsonError);
});

test('long texts cost what they are long', () => {
  for (const character of [' ', '\0', '9', '-', '0.', 'nan(', 'e1', '"', '\u{feff}']) {
    const long = `x${character.repeat(300_000)}`;
    assert.equal(typeof readBareValue(`${long}x`), 'string');
    assert.equal(readBareValue(long), long.replace(/[\s\0]*$/, ''));
  }
});
