import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { asNumber } from '../../lib/json.ts';
import type { Criterion, FieldTest, Operand } from './field-test.ts';
import { parseTests } from './query-parser.ts';

const parse = (text: string) => parseTests(text, { label: 'expression', isField: () => false });

/** The parts of a test as they are written; parsing must find the same parts again. */
interface Written {
  readonly source: string;
  readonly parsed: FieldTest;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const anyText = fc.string({ maxLength: 12, unit: 'binary' });
const plainText = fc.stringMatching(/^[A-Za-z0-9_@-]([A-Za-z0-9_@ .:|-]{0,8}[A-Za-z0-9_@-])?$/);
const instant = undefined;

const operand: fc.Arbitrary<{ source: string; parsed: Operand }> = fc.oneof(
  anyText.map((text) => ({ source: quoted(text), parsed: { text, number: undefined, instant } })),
  plainText
    .filter((text) => !text.includes('..'))
    .map((text) => ({ source: text, parsed: { text, number: asNumber(text), instant } })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => ({
    source: String(number),
    parsed: { text: String(number), number: number + 0, instant },
  })),
);

const criterion: fc.Arbitrary<{ source: string; parsed: Criterion }> = fc.oneof(
  operand,
  fc.tuple(operand, operand).map(([from, to]) => {
    const isNumeric = from.parsed.number !== undefined && to.parsed.number !== undefined;
    const end = (parsed: Operand): Operand =>
      isNumeric ? parsed : { ...parsed, number: undefined };
    return {
      source: `${from.source}..${to.source}`,
      parsed: { from: end(from.parsed), to: end(to.parsed) },
    };
  }),
);

const name: fc.Arbitrary<{ source: string; name: string }> = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_.|,-]{1,10}$/).map((text) => ({ source: text, name: text })),
  anyText.filter((text) => text !== '').map((text) => ({ source: quoted(text), name: text })),
);

const space = fc.constantFrom('', ' ', '\t ');

const fieldTest: fc.Arbitrary<Written> = fc.oneof(
  fc.tuple(name, fc.boolean()).map(([field, isAbsent]): Written => {
    const operator = isAbsent ? 'absent' : 'exists';
    return {
      source: `${isAbsent ? '!' : ''}${field.source}`,
      parsed: { operator, name: field.name },
    };
  }),
  fc.tuple(name, fc.constantFrom('<', '<=', '>', '>='), operand, space).map(
    ([field, operator, value, gap]): Written => ({
      source: `${field.source}${gap}${operator}${gap}${value.source}`,
      parsed: { operator, name: field.name, operand: value.parsed },
    }),
  ),
  fc
    .tuple(
      name,
      fc.constantFrom('==', '!='),
      fc.array(criterion, { minLength: 1, maxLength: 3 }),
      space,
    )
    .map(
      ([field, operator, list, gap]): Written => ({
        source: `${field.source}${gap}${operator}${list.map((one) => gap + one.source).join(',')}`,
        parsed: { operator, name: field.name, anyOf: list.map((item) => item.parsed) },
      }),
    ),
);

test('what is written is what is parsed', () => {
  fc.assert(
    fc.property(fc.array(fieldTest, { maxLength: 5 }), space, (tests, gap) => {
      const source = tests.map((written) => gap + written.source + gap).join(';');
      assert.deepEqual(
        parse(source),
        tests.map((written) => written.parsed),
      );
    }),
    { numRuns: 1_000 },
  );
});

test('a pattern runs to the semicolon, or is quoted', () => {
  const [first, second, ...others] = parse("a ~= ^x=<y>,'z' ; b~='p;''q'''");
  assert.ok(first?.operator === '~=' && first.name === 'a');
  assert.equal(first.pattern.test("x=<y>,'z'"), true);
  assert.ok(second?.operator === '~=' && second.name === 'b');
  assert.equal(second.pattern.test("p;'q'"), true);
  assert.deepEqual(others, []);
});

test('an operand knows the moment that its text is', () => {
  const [only] = parse("a>'2024-05-01T10:00Z'");
  assert.ok(only?.operator === '>');
  assert.equal(only.operand.instant, Date.parse('2024-05-01T10:00:00Z'));
});

test('a colon ends a field name, but belongs to other names when an operator follows', () => {
  const nameOf = (text: string, isField: (name: string) => boolean) =>
    parseTests(text, { label: 'q', isField })[0]?.name;
  assert.equal(
    nameOf('a:b>1', () => false),
    'a:b',
  );
  assert.equal(
    nameOf('a:b', () => false),
    'a',
  );
  assert.throws(
    () => nameOf('a:b>1', (field) => field === 'a'),
    /^DomainError: q is malformed at character 4/,
  );
});
