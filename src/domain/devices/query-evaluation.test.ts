import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import type { FieldTest } from './field-test.ts';
import { passes, passesInTime } from './query-evaluation.ts';
import { parseTests } from './query-parser.ts';

function aTest(source: string): FieldTest {
  const [only] = parseTests(source, { label: 'q', isField: () => false });
  assert.ok(only !== undefined);
  return only;
}

const written = { '<': '<', '<=': '<=', '>': '>', '>=': '>=', '==': '==', '!=': '!=' } as const;
type Operator = keyof typeof written;

/** The rules once more, as plainly as they can be said. */
function model(value: number | string | boolean, operator: Operator, literal: number | string) {
  const isNumber = typeof literal === 'number';
  const left = isNumber ? (typeof value === 'boolean' ? Number.NaN : Number(value)) : String(value);
  const results: Record<Operator, boolean> = {
    '<': left < literal,
    '<=': left <= literal,
    '>': left > literal,
    '>=': left >= literal,
    '==': left === literal,
    '!=': left !== literal,
  };
  return results[operator];
}

const smallNumber = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -0.5, 1e21));
const word = fc.constantFrom('a', 'b', 'ab', 'B', 'x y', '10x');
const value = fc.oneof(smallNumber, smallNumber.map(String), word, fc.boolean());
const literal = fc.oneof(smallNumber, word);
const operator = fc.constantFrom<Operator>('<', '<=', '>', '>=', '==', '!=');

test('comparisons agree with the plain model', () => {
  fc.assert(
    fc.property(value, operator, literal, (left, sign, right) => {
      assert.equal(passes(aTest(`f${sign}${right}`), left), model(left, sign, right));
    }),
    { numRuns: 2_000 },
  );
});

test('a list is any of its values, a range is from and to, and != is the contrary of ==', () => {
  fc.assert(
    fc.property(value, fc.array(literal, { minLength: 1, maxLength: 4 }), (left, list) => {
      const expected = list.some((right) => model(left, '==', right));
      assert.equal(passes(aTest(`f==${list.join(',')}`), left), expected);
      assert.equal(passes(aTest(`f!=${list.join(',')}`), left), !expected);
    }),
  );
  fc.assert(
    fc.property(value, smallNumber, smallNumber, (left, from, to) => {
      const expected = model(left, '>=', from) && model(left, '<=', to);
      assert.equal(passes(aTest(`f==${from}..${to}`), left), expected);
      assert.equal(passes(aTest(`f!=${from}..${to}`), left), !expected);
    }),
  );
});

test('an array passes a test when an element does, and != when none equals', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), operator, literal, (list, sign, right) => {
      const each = list.map((left) => model(left, sign, right));
      const expected = sign === '!=' ? each.every((one) => one) : each.some((one) => one);
      assert.equal(passes(aTest(`f${sign}${right}`), list), expected);
    }),
  );
});

test('an absent value passes nothing but the test for absence', () => {
  for (const source of ['f', 'f==1', 'f!=1', 'f<1', 'f>1', 'f~=.*', "f==''"]) {
    assert.equal(passes(aTest(source), undefined), false, source);
  }
  assert.equal(passes(aTest('!f'), undefined), true);
  for (const present of [null, false, 0, '', [], {}] as JsonValue[]) {
    assert.equal(passes(aTest('!f'), present), false);
    assert.equal(passes(aTest('f'), present), true);
  }
});

test('moments compare in time, and as text with what is no moment', () => {
  const noon = Date.parse('2024-05-01T12:00:00Z');
  assert.equal(passesInTime(aTest('f==2024-05-01T14:00+02:00'), noon), true);
  assert.equal(passesInTime(aTest('f>2024-05-01T13:00+02:00'), noon), true);
  assert.equal(passesInTime(aTest('f<=2024-05-01T11:59:59.999Z'), noon), false);
  assert.equal(passesInTime(aTest('f!=2024-04-01..2024-05-02'), noon), false);
  assert.equal(passesInTime(aTest('f~=T12:'), noon), true);
  assert.equal(passesInTime(aTest('f>2023'), noon), true);
  assert.equal(passesInTime(aTest('f>2025'), noon), false);
});

test('numbers that a double cannot hold are compared digit by digit', () => {
  const value = parseJson('840380235174088835');
  assert.equal(passes(aTest('tag == 840380235174088834'), value), false);
  assert.equal(passes(aTest('tag != 840380235174088834'), value), true);
  assert.equal(passes(aTest('tag > 840380235174088834'), value), true);
  assert.equal(passes(aTest('tag == 840380235174088830..840380235174088834'), value), false);
  assert.equal(passes(aTest('tag == 840380235174088835.0'), '840380235174088835'), true);
  assert.equal(passes(aTest('tag <= 840380235174088834'), '840380235174088835'), false);
});
