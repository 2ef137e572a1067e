import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { compilePattern, PatternError } from './pattern.ts';

const bounds = { sourceCharactersMax: 100, instructionsMax: 300, textCharactersMax: 5_000 };
const compile = (source: string) => compilePattern(source, bounds);

test('a pattern is found anywhere unless it is anchored', () => {
  assert.equal(compile('b+').test('abbc'), true);
  assert.equal(compile('^b+').test('abbc'), false);
  assert.equal(compile('^a.*c$').test('abbc'), true);
  assert.equal(compile('(?i)STATION').test('weather station'), true);
  assert.equal(compile('').test('anything'), true);
});

test('a malformed pattern is refused with a sentence', () => {
  assert.throws(() => compile('(a'), {
    name: 'PatternError',
    message: 'the pattern is malformed: missing closing ): `(a`',
  });
  for (const source of ['[', '*', '\\', '(?<=a)b', '(?=a)', '(a)\\1', 'a**']) {
    assert.throws(() => compile(source), PatternError, source);
  }
});

test('a pattern is bounded in length and in size', () => {
  assert.equal(compile('a'.repeat(100)).test('a'.repeat(100)), true);
  assert.throws(() => compile('a'.repeat(101)), /longer than 100 characters/);
  assert.equal(compile('a{200}').test('a'.repeat(200)), true);
  assert.throws(() => compile('(a{200}){5}'), /too large/);
  assert.throws(() => compile('('.repeat(50) + ')'.repeat(49)), PatternError);
});

test('a text beyond the limit does not match', () => {
  assert.equal(compile('a').test('a'.repeat(5_000)), true);
  assert.equal(compile('a').test('a'.repeat(5_001)), false);
});

test('patterns that explode elsewhere end here', () => {
  const text = `${'a'.repeat(4_999)}!`;
  for (const source of [
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(.*)(.*)(.*)(.*)x$',
    '^(([a-z])+.)+$',
  ]) {
    const pattern = compile(source);
    assert.equal(pattern.test(text), source.startsWith('^(([a-z])'), source);
  }
});

test('arbitrary patterns compile or are refused with PatternError, and never throw later', () => {
  const piece = fc.constantFrom('(', ')', '[', ']', '{2}', '*', '+', '?', '|', '\\', 'a', '^', '$');
  const source = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(source, fc.string(), (sourceText, text) => {
      try {
        assert.equal(typeof compile(sourceText).test(text), 'boolean');
      } catch (reason) {
        assert.ok(reason instanceof PatternError, String(reason));
      }
    }),
  );
});
