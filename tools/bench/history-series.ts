/** One kind of history: how the values of a sensor follow each other. */
export interface SeriesKind {
  /** Short, and a word in every query language. */
  readonly name: string;
  readonly meaning: string;
  /** The value after this one; the same every time, for the same random numbers. */
  readonly next: (before: SeriesValue, random: () => number) => SeriesValue;
  readonly first: SeriesValue;
}

export type SeriesValue = number | boolean | string;

/** A value and its time, in ms since 1970. */
export interface SeriesPoint {
  readonly timestamp: number;
  readonly value: SeriesValue;
}

const stepped =
  (step: number, spread: number): SeriesKind['next'] =>
  (before, random) => {
    const moved = Number(before) + (random() - 0.5) * 2 * spread;
    const perUnit = Math.round(1 / step);
    return Math.round(moved * perUnit) / perUnit;
  };

const states = ['idle', 'pumping', 'full', 'fault: no water', 'cleaning'] as const;

/** What real sensors send, from the coarse to what hardly compresses. */
export const seriesKinds: readonly SeriesKind[] = [
  { name: 'tenths', meaning: 'steps of 0.1', first: 21.5, next: stepped(0.1, 0.15) },
  { name: 'hundredths', meaning: 'steps of 0.01', first: 61.25, next: stepped(0.01, 0.06) },
  {
    name: 'doubles',
    meaning: 'doubles with every digit',
    first: 3.3,
    next: (before, random) => Number(before) + (random() - 0.5) / 7,
  },
  {
    name: 'switches',
    meaning: 'true and false',
    first: false,
    next: (before, random) => (random() < 0.02 ? before !== true : before),
  },
  {
    name: 'texts',
    meaning: 'texts, five of them',
    first: states[0],
    next: (before, random) =>
      random() < 0.05 ? (states[Math.floor(random() * states.length)] ?? before) : before,
  },
];

/** The kind that is asked for in every query. */
export const queriedKind = 'hundredths';

/** Times a minute apart, each up to a second late, as devices send them. */
export function* pointsOf(
  kind: SeriesKind,
  times: { readonly from: number; readonly stepMs: number; readonly seed: number },
): Generator<SeriesPoint, never> {
  const random = createRandom(times.seed);
  const jitterMs = Math.min(1_000, times.stepMs);
  let value = kind.first;
  for (let n = 0; ; n += 1) {
    const timestamp = times.from + n * times.stepMs + Math.floor(random() * jitterMs);
    yield { timestamp, value };
    value = kind.next(value, random);
  }
}

/** Numbers from 0 up to 1 that are the same in every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
