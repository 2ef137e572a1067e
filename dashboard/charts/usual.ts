/** The lowest and highest of some values. */
export type Ends = readonly [low: number, high: number];

/** Of so few values none is unusual. */
const pointsMin = 20;
/** The scale may leave out one value in so many, and always one. */
const valuesPerOutlier = 100;
/** Outliers are left out where the rest would take less than this part of the scale. */
const restShareMax = 1 / 4;

/**
 * The ends of what is usual in a line: of all its values, or without at most one in a hundred where
 * these would press the others together to less than a quarter of the scale. Undefined: no values.
 */
export function usualEnds(values: readonly number[]): Ends | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) return undefined;
  if (sorted.length < pointsMin) return [low, high];
  const [bottom, top] = narrowest(
    sorted,
    Math.max(1, Math.floor(sorted.length / valuesPerOutlier)),
  );
  const span = top - bottom;
  if (span === 0 || span >= (high - low) * restShareMax) return [low, high];
  // Values within one span of the ends are usual, too.
  const near = sorted.filter((value) => value >= bottom - span && value <= top + span);
  return [near[0] ?? bottom, near.at(-1) ?? top];
}

/** The closest ends around all values but so many. */
function narrowest(sorted: readonly number[], leftOut: number): Ends {
  const kept = sorted.length - leftOut;
  let ends: Ends = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  for (let first = 0; first <= leftOut; first += 1) {
    const [low, high] = [sorted[first] ?? 0, sorted[first + kept - 1] ?? 0];
    if (high - low < ends[1] - ends[0]) ends = [low, high];
  }
  return ends;
}

/** A value of a line near the finger; low and high where it stands for several. */
export interface NearPoint {
  readonly index: number;
  readonly low: number;
  readonly high: number;
}

/** A point stands out that is so much of the scale away from what is usual around it. */
const outstandingShare = 0.05;

/**
 * The index of the point that a finger means: the one that stands out most among those near it;
 * undefined where none does. A finger is wider than the peak that it points at.
 */
export function outstandingIndex(
  lines: readonly (readonly NearPoint[])[],
  scaleSpan: number,
): number | undefined {
  let found: { readonly index: number; readonly distance: number } | undefined;
  for (const points of lines) {
    const middles = points.map(({ low, high }) => (low + high) / 2).sort((a, b) => a - b);
    const usual = middles[Math.floor(middles.length / 2)] ?? 0;
    for (const { index, low, high } of points) {
      const distance = Math.max(Math.abs(low - usual), Math.abs(high - usual));
      if (distance > (found?.distance ?? outstandingShare * scaleSpan)) found = { index, distance };
    }
  }
  return found?.index;
}
