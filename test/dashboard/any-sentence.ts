import fc from 'fast-check';
import type { Condition, Sentence } from '../../dashboard/alerts/read-sentence.ts';

const record = <Model extends object>(
  model: {
    readonly [Key in keyof Model]: fc.Arbitrary<Model[Key]>;
  },
) => fc.record<Model>(model, { noNullPrototype: true });

const sensor = fc.oneof(
  fc.constantFrom('SM1', 'clear', 'for', 'silent', 'a:b', '-x', '!y', 'z~', 'a,b', '{id}', 'a.b'),
  fc
    .stringMatching(/^[A-Za-z0-9_.:!~,*@${}[\]^|-]{1,12}$/)
    .filter((id) => id !== '.' && id !== '..'),
);
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const word = fc
  .string({ maxLength: 12 })
  .filter((text) => text.trim() !== '' && !/^[-+]?(\d|\.\d)/.test(text));
const value = fc.oneof(number, word, fc.constantFrom("it's; dry", 'x for 3m', 'a clear b=c'));
const compare = record({
  kind: fc.constant('compare' as const),
  sensor,
  comparison: fc.constantFrom('below', 'above', 'atMost', 'atLeast', 'equals', 'differs'),
  value,
});
const range = record({
  kind: fc.constant('range' as const),
  sensor,
  placing: fc.constantFrom('between', 'outside'),
  low: number,
  high: number,
});
const silent = record({
  kind: fc.constant('silent' as const),
  // The expression has no way to write a comma in the name of a silent sensor.
  sensor: sensor.filter((id) => !id.includes(',')),
  seconds: fc.integer({ min: 1, max: 366 * 86_400 }),
});
const condition: fc.Arbitrary<Condition> = fc.oneof(compare, range, silent);
/** Sentences with names, values and times as people may have them. */
export const anySentence: fc.Arbitrary<Sentence> = fc.record(
  {
    conditions: fc.array(condition, { minLength: 1, maxLength: 4 }),
    forSeconds: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 366 * 86_400 })),
    clear: compare,
  },
  { requiredKeys: ['conditions', 'forSeconds'], noNullPrototype: true },
);
