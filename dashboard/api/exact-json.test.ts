import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatValue, numberOf } from '../i18n/formats.ts';
import { ExactNumber, parseExact, typedNumber } from './exact-json.ts';
import { jsonOf } from './long-numbers.ts';

const shown = (value: unknown, language = 'en'): string =>
  formatValue(value, language, (key) => key);

const long = ['840380235174088835', '0.12345678901234567890', '-1.00000000000000000001', '1e-400'];

test('a number that a double cannot hold is read, shown and written with all its digits', () => {
  for (const digits of long) {
    const text = `[{"value":${digits},"of":"${digits}"},{"value":1.10}]`;
    const read = parseExact(text) as readonly { readonly value: unknown }[];
    const [first, second] = read;
    assert.equal(shown(first?.value), digits);
    assert.equal(numberOf(first?.value), Number(digits));
    assert.equal(second?.value, 1.1);
    assert.equal(JSON.stringify(read), text.replace('1.10', '1.1'));
  }
  assert.equal(shown(parseExact(long[1] ?? ''), 'fr'), '0,12345678901234567890');
});

test('what a double holds, and text, is read as ever', () => {
  const text = JSON.stringify({
    a: ['840380235174088835', '\\"1.2345678901234567890', 0.1, 1e300],
  });
  assert.deepEqual(parseExact(text), JSON.parse(text));
  assert.throws(() => parseExact('{"value":84038023517408883'), SyntaxError);
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(...long), (json, digits) => {
      const read = parseExact(`[${json},${digits}]`) as readonly unknown[];
      assert.deepEqual(read[0], parseExact(json));
      assert.equal(JSON.stringify(read[1]), digits);
    }),
  );
});

test('answers are read with all digits', async () => {
  const read = async (text: string) => JSON.stringify(await jsonOf(new Response(text)));
  for (const digits of [...long, '"840380235174088835"', '{"value":21.5}']) {
    assert.equal(await read(digits), digits);
  }
});

test('what is typed keeps its digits', () => {
  const sent = (text: string) => JSON.stringify(typedNumber(text));
  assert.equal(sent(' 840380235174088835 '), '840380235174088835');
  assert.equal(sent('+000,12345678901234567890'), '0.12345678901234567890');
  assert.equal(sent('-.12345678901234567890'), '-0.12345678901234567890');
  assert.equal(sent('84038023517408883501.'), '84038023517408883501');
  assert.equal(sent('007,50'), '7.5');
  assert.ok(typedNumber('1.10') === 1.1);
  assert.ok(typedNumber('840380235174088835') instanceof ExactNumber);
  for (const text of ['', '.', '-', 'e5', '1e999', '1,2,3', '0x10']) {
    assert.equal(typedNumber(text), undefined, text);
  }
});
