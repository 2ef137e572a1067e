import { chartLimits } from './chart-limits.ts';

/** The length of a bucket, as the API spells it and in ms. */
export interface Interval {
  readonly text: string;
  readonly ms: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const ladder: readonly (readonly [text: string, ms: number])[] = [
  ...([1, 2, 5, 10, 15, 30] as const).map((n) => [`${n}s`, n * second] as const),
  ...([1, 2, 5, 10, 15, 30] as const).map((n) => [`${n}m`, n * minute] as const),
  ...([1, 2, 3, 6, 12] as const).map((n) => [`${n}h`, n * hour] as const),
  ...([1, 2] as const).map((n) => [`${n}d`, n * day] as const),
  ['1w', 7 * day],
  ['1mo', 30.44 * day],
];

/** The shortest interval on the ladder that gives no more points than the width can show. */
export function chooseInterval(spanMs: number, widthPx: number): Interval {
  const pointsMax = Math.max(chartLimits.pointsMin, widthPx / chartLimits.pixelsPerPoint);
  const found = ladder.find(([, ms]) => spanMs / ms <= pointsMax) ?? ladder.at(-1);
  const [text, ms] = found ?? ['1d', day];
  return { text, ms };
}
