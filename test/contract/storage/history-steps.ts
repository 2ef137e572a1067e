import fc from 'fast-check';
import { hourMs } from '../../../src/domain/datapoints/retention/retention.ts';
import { noon } from './builders.ts';

export const midnight = noon - 12 * hourMs;
/** Datapoints lie on a grid, so that many come again and many share an hour. */
export const gridMs = 40 * 60_000;

const place = fc.integer({ min: -60, max: 60 });
const value = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom('wet', '2.5', 0.25, null) },
);
const values = fc.array(fc.tuple(place, value), { minLength: 1, maxLength: 12, size: 'max' });
/** In the same millisecond as the step before it. */
const isAtOnce = fc.boolean();
const days = fc.integer({ min: -3, max: 3 });

/** One step of any history. */
export const historyStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('push' as const), values, isAtOnce }) },
  { weight: 2, arbitrary: fc.constant({ do: 'again' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('untimed' as const), value, isAtOnce }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: fc.constant('remove' as const), from: place, length: fc.nat({ max: 60 }) },
      value: fc.option(value, { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ do: fc.constant('correct' as const), value },
      at: fc.array(place, { minLength: 1, maxLength: 30, size: 'max' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), which: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('retain' as const), before: days },
      hourly: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
      /** Steps before something else happens. */
      steps: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rewrite' as const) }) },
);

const line = (from: number, to: number): [number, number][] =>
  Array.from({ length: to - from }, (_, n) => [from + n, n % 5]);

/** One that has every kind of step. */
export const wholeHistory: readonly HistoryStep[] = [
  { do: 'push', values: [...line(-60, 40), [-90, '2.5'], [-89, 'wet']], isAtOnce: false },
  { do: 'again' },
  { do: 'correct', at: [-50, -49, -8, 3], value: 7 },
  { do: 'remove', from: -30, length: 12, value: undefined },
  { do: 'remove', from: 20, length: 3, value: undefined },
  { do: 'undo', which: 2 },
  { do: 'remove', from: 39, length: 5, value: undefined },
  { do: 'push', values: [[41, 9]], isAtOnce: true },
  { do: 'rewrite' },
  { do: 'retain', before: 0, hourly: undefined, steps: 1 },
  { do: 'push', values: [...line(-70, -20), [-80, 4]], isAtOnce: false },
  { do: 'crash' },
  { do: 'undo', which: 1 },
  { do: 'retain', before: 0, hourly: undefined, steps: 0 },
  { do: 'retain', before: 1, hourly: 1, steps: 2 },
  { do: 'retain', before: 3, hourly: 0, steps: 0 },
];

/** A history in which a datapoint arrives in the millisecond of a correction, within its range. */
export const correctedAtOnce: readonly HistoryStep[] = [
  {
    do: 'push',
    values: [
      [-2, 1],
      [2, 2],
    ],
    isAtOnce: false,
  },
  { do: 'remove', from: -2, length: 4, value: undefined },
  { do: 'push', values: [[0, 3]], isAtOnce: true },
];

export type HistoryStep = typeof historyStep extends fc.Arbitrary<infer One> ? One : never;
