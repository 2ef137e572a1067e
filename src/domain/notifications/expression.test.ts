import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../lib/json.ts';
import { passes } from '../devices/query-evaluation.ts';
import { parseTests } from '../devices/query-parser.ts';
import { DomainError } from '../errors.ts';
import {
  type DeviceView,
  holds,
  isCleared,
  parseExpression,
  problemOf as problemIn,
} from './expression.ts';

const now = Date.UTC(2026, 10, 20, 12);

function readingOf(values: Readonly<Record<string, JsonValue>>, age = 0): DeviceView {
  const value = (id: string) => (Object.hasOwn(values, id) ? values[id] : undefined);
  return {
    ...{ now, value, number: value },
    seenAt: (id) => (Object.hasOwn(values, id) ? now - age : undefined),
  };
}

const isTrue = (text: string, values: Readonly<Record<string, JsonValue>>, age = 0) =>
  holds(parseExpression(text), readingOf(values, age), now);

function problemOf(text: string): string {
  try {
    parseExpression(text);
  } catch (reason) {
    assert.ok(reason instanceof DomainError && reason.code === 'invalid', String(reason));
    return reason.message;
  }
  return '';
}

test('all tests must hold, numbers and text alike', () => {
  assert.equal(isTrue('TC1 > 30', { TC1: 31 }), true);
  assert.equal(isTrue('TC1>30;SM1<10', { TC1: '31', SM1: 9 }), true);
  assert.equal(isTrue('TC1>30;SM1<10', { TC1: 31, SM1: 10 }), false);
  assert.equal(isTrue('TC1==10..30', { TC1: 30 }), true);
  assert.equal(isTrue("TC1 == 'on;off'", { TC1: 'on;off' }), true);
  assert.equal(isTrue('TC1 > 30', { TC1: 'error' }), false);
  assert.equal(isTrue('', {}), true);
});

test('for, clear and silent are read in every place they may stand', () => {
  const both = parseExpression('TC1 > 30 for 10m clear TC1 < 28');
  assert.deepEqual([both.forMs, both.tests.length, both.clear.length], [600_000, 1, 1]);
  const apart = parseExpression("TC1 > 30 for 1.5h; SM1 == 'for 5m'; clear TC1 < 28");
  assert.deepEqual([apart.forMs, apart.tests.length, apart.clear.length], [5_400_000, 2, 1]);
  assert.equal(isCleared(apart, readingOf({ TC1: 27 })), true);
  assert.equal(isCleared(apart, readingOf({ TC1: 28 })), false);
  const silent = parseExpression('silent(TC1, 2h); SM1 > 3');
  assert.deepEqual(silent.silences, [{ sensorId: 'TC1', durationMs: 7_200_000 }]);
  assert.deepEqual(silent.sensors, ['SM1', 'TC1']);
  assert.equal(isTrue('silent(TC1, 2h)', { TC1: 1 }, 7_199_999), false);
  assert.equal(isTrue('silent(TC1, 2h)', { TC1: 1 }, 7_200_000), true);
});

test('sensors called for, clear and silent are sensors', () => {
  for (const name of ['for', 'clear', 'silent']) {
    assert.equal(isTrue(`${name} > 5`, { [name]: 6 }), true, name);
    assert.equal(isTrue(`${name}`, { [name]: 6 }), true, name);
  }
});

test('what is wrong is pointed at', () => {
  const wrong: Readonly<Record<string, RegExp>> = {
    'TC1 > 3; SM1 >': /character 15/,
    'TC1 > 3 for 10 parsecs': /character 9.*10 parsecs/,
    'TC1 > 3 for 0s': /character 9.*1s to 366d/,
    'TC1 > 3 for 1m; SM1 > 2 for 2m': /character 25: for may be written once/,
    'TC1 > 3; silent(TC1)': /character 10: expected silent/,
    'clear TC1 < 3': /in front of for and clear/,
    'TC1 > 3; clear TC1 < 2; clear TC1 < 1': /once/,
    'TC1 > 3 clear TC1 < 2 for 5m': /in front of clear/,
    'TC1 > for 5m': /character 7: expected a value/,
    "TC1 == 'a' clear SM1": /character 12: expected ; or the end/,
    'a b > 3': /can be no sensor/,
  };
  for (const [text, saying] of Object.entries(wrong)) {
    assert.match(problemOf(text), saying, text);
  }
});

const words = [
  'TC1',
  ' for ',
  '10m',
  ' clear ',
  'silent(',
  ')',
  ',',
  ';',
  '>',
  '<',
  '==',
  "'",
  ' ',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...words, '3', '~=', '(a+)+$', '..', '!'), fc.string()))
  .map((parts) => parts.join(''));

test('no text breaks the parser: it is read, or refused as invalid', () => {
  fc.assert(
    fc.property(text, (any) => {
      problemOf(any);
    }),
    { numRuns: 3_000 },
  );
});

test('a hostile text is read in little time', () => {
  const [words, pairs] = ['TC1 > 3 clear a ', 'a for 5m '].map((part) => part.repeat(400));
  for (const text of [words, pairs, 'clear a '.repeat(500), 'silent(a, '.repeat(400)]) {
    const startedAt = performance.now();
    problemOf(String(text).slice(0, 4_096));
    assert.ok(performance.now() - startedAt < 50, `${performance.now() - startedAt} ms`);
  }
});

test('a text without the new words means what it means as a filter', () => {
  const sensor = fc.constantFrom('TC1', 'SM1', 'a.b:c');
  const operator = fc.constantFrom('>', '<', '>=', '<=', '==', '!=');
  const one = fc.tuple(sensor, operator, fc.integer({ min: -3, max: 3 }));
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 5 }),
      fc.integer({ min: -3, max: 3 }),
      (tests, value) => {
        const written = tests.map((parts) => parts.join(' ')).join(';');
        const filter = parseTests(written, { label: 'q', isField: () => false });
        const expected = filter.every((each) => passes(each, value));
        const reading = { ...readingOf({}), value: () => value, number: () => value };
        assert.equal(holds(parseExpression(written), reading, now), expected);
      },
    ),
  );
});

test('what means nothing is refused where it is new, with the place', () => {
  for (const [text, at] of [
    ['door =~ open', 6],
    ['TC1 > 8 for', 9],
    ['TC1 > 8C', 7],
    ['8 < TC1', 5],
    ['TC1 > SM1', 7],
    ['TC1 > 8 for 1m for 2m', 9],
    ['TC1 >= ok', 8],
    ['door == open for', 14],
    ['TC1 > 30 clear TC1 < cold', 22],
    ['TC1 != 1,5..-5', 10],
  ] as const) {
    assert.throws(
      () => parseExpression(text, { isStrict: true }),
      (error) => error instanceof DomainError && error.message.includes(`character ${at}:`),
      text,
    );
    assert.equal(problemIn(text)?.includes(`character ${at}:`), true, text);
    parseExpression(text);
  }
  for (const text of [
    'TC1 > 8 for 10m clear TC1 < 7; SM1 <= -3.5e2',
    "TC1 > 'ok'; door == open",
    'TC1 == 10..30,5..5; door != open,closed',
    'at > 2026-01-31T12:00:00Z',
    "silent(TC1, 2h); door ~= 'for|clear'",
    '',
  ]) {
    parseExpression(text, { isStrict: true });
    assert.equal(problemIn(text), undefined, text);
  }
});
