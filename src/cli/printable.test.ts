import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable, printableLines } from './printable.ts';

const commands = '\u001b]0;title\u0007\u001b[2J\u009b31m\u202e';

test('text of strangers loses what a terminal would obey, and stays one line', () => {
  assert.equal(printable(`a${commands}b`), 'a?]0;title??[2J?31m?b');
  assert.equal(printable('one\r\nkipimo: all is well'), 'one kipimo: all is well');
  assert.equal(printable('Mbeya, 21 °C – Überlauf, 水位 🌊'), 'Mbeya, 21 °C – Überlauf, 水位 🌊');
  assert.equal(printableLines('a\u001b\nb\u0007'), 'a?\nb?');
});
