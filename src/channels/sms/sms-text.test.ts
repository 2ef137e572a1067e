import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { property, string } from 'fast-check';
import { channelLimits } from '../limits.ts';
import { alphabetOf, cutToParts, partsOf } from './sms-text.ts';

for (const [text, parts, alphabet] of [
  ['a'.repeat(160), 1, 'gsm'],
  ['a'.repeat(161), 2, 'gsm'],
  ['a'.repeat(306), 2, 'gsm'],
  ['a'.repeat(307), 3, 'gsm'],
  ['{'.repeat(80), 1, 'gsm'],
  [`{${'a'.repeat(159)}`, 2, 'gsm'],
  ['ж'.repeat(70), 1, 'ucs2'],
  ['ж'.repeat(71), 2, 'ucs2'],
  ['🔥'.repeat(35), 1, 'ucs2'],
  ['🔥'.repeat(36), 2, 'ucs2'],
  ['', 1, 'gsm'],
] as const) {
  test(`${text.slice(0, 4)}… of ${text.length} travels in ${parts} as ${alphabet}`, () => {
    assert.equal(partsOf(text).parts.length, parts);
    assert.equal(alphabetOf(text), alphabet);
  });
}

test('curly quotes and dashes do not make a text travel as UCS-2', () => {
  assert.equal(cutToParts('“Hot” – it’s 41…'), `"Hot" - it's 41...`);
  assert.equal(cutToParts('“жара” – 41'), '“жара” – 41');
});

test('a text that is too long ends with dots, in the number of parts that is allowed', () => {
  const cut = cutToParts('a'.repeat(5_000));
  assert.equal(partsOf(cut).parts.length, channelLimits.smsPartsMax);
  assert.ok(cut.endsWith('a...'));
});

test('any text keeps its letters whole and stays within the parts that are allowed', () => {
  fc.assert(
    property(string({ unit: 'binary', maxLength: 1_500 }), (text) => {
      const cut = cutToParts(text);
      const { parts, alphabet } = partsOf(cut);
      assert.ok(parts.length <= channelLimits.smsPartsMax);
      assert.equal(parts.join(''), cut);
      assert.ok(parts.every((part) => part.isWellFormed()));
      assert.equal(alphabetOf(cut), alphabet);
      assert.doesNotMatch(cut, /[^\P{Cc}\n]/u);
    }),
  );
});
