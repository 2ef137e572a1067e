import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anySentence } from '../../test/dashboard/any-sentence.ts';
import { readSentence } from './read-sentence.ts';
import { expressionOf } from './sentence.ts';

test('a form that becomes an expression is the same form when it is read again', () => {
  fc.assert(
    fc.property(anySentence, (form) => {
      assert.deepEqual(readSentence(expressionOf(form)), form);
    }),
    { numRuns: 500 },
  );
});

test('an expression as people write it is read into the form', () => {
  assert.deepEqual(readSentence('TC1>30;SM1 <= 10 for 10m clear TC1 < 28'), {
    conditions: [
      { kind: 'compare', sensor: 'TC1', comparison: 'above', value: '30' },
      { kind: 'compare', sensor: 'SM1', comparison: 'atMost', value: '10' },
    ],
    forSeconds: 600,
    clear: { kind: 'compare', sensor: 'TC1', comparison: 'below', value: '28' },
  });
  assert.equal(readSentence('TC1 > 30 for 1.5h')?.forSeconds, 5_400);
  assert.deepEqual(readSentence('silent(TC1, 2h)'), {
    conditions: [{ kind: 'silent', sensor: 'TC1', seconds: 7_200 }],
    forSeconds: 0,
  });
  assert.deepEqual(readSentence('TC1 == 10..30')?.conditions, [
    { kind: 'range', sensor: 'TC1', placing: 'between', low: '10', high: '30' },
  ]);
  assert.deepEqual(readSentence(''), { conditions: [], forSeconds: 0 });
});

test('what the form has no words for is left to the expression itself', () => {
  for (const text of [
    'TC1',
    '!TC1',
    'TC1 ~= hot.*',
    'TC1 == 1,2,3',
    "TC1 == '30'",
    'TC1 > 30 for 0.0001s',
    'TC1 > 30 clear TC1 == 1..2',
    'TC1 > 30 clear TC1 < 2; clear SM1 < 3',
    'clear TC1 < 2',
    'TC1 >',
    "TC1 > '30",
    'silent(TC1)',
  ]) {
    assert.equal(readSentence(text), undefined, text);
  }
});

test('no text makes reading fail', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      const read = readSentence(text);
      if (read !== undefined && read.conditions.length > 0) {
        assert.deepEqual(readSentence(expressionOf(read)), read);
      }
    }),
  );
});
