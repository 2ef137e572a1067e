import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from './languages.ts';
import { inReadersWords, usualNames } from './usual-names.ts';

test('a name that the dashboard gave is read in each language, one of the owner as it is', () => {
  for (const made of languages) {
    for (const [text, name] of Object.entries(usualNames[made])) {
      for (const read of languages) {
        const expected = new Map(Object.entries(usualNames[read])).get(text);
        assert.equal(inReadersWords(name, read), expected, `${name} in ${read}`);
      }
    }
  }
  assert.equal(inReadersWords('Température de l’air', 'sw'), 'Joto la hewa');
  assert.equal(inReadersWords('Air of the north field', 'fr'), 'Air of the north field');
  assert.equal(inReadersWords('constructor', 'fr'), 'constructor');
});
