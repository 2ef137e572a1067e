import type { Range } from '../datapoint-store.ts';
import { hourMs } from '../retention/retention.ts';

/** A stretch of time in which corrections touched datapoints, and how many of them are removed. */
export interface TouchedPart extends Required<Range> {
  readonly removed: number;
}

/** Parts in the order of time that are being put together. */
export type OpenParts = { from: number; to: number; removed: number }[];
/** Parts of one sensor; where corrections touched more, neighbours are put together. */
const touchedPartsMax = 16_384;
const partsPerCorrectionMin = 8;
/** So many datapoints with nothing left between them are one part, however long it lasts. */
const removedPerPart = 1_024;

/** How many parts a correction has at most. */
export const partsMaxOf = (one: { from: number; to: number; count: number }): number =>
  Math.min(
    one.count,
    touchedPartsMax,
    (one.to - one.from) / hourMs + one.count / removedPerPart + 2,
  );

function addPart(parts: OpenParts, part: TouchedPart, isOne: (last: TouchedPart) => boolean): void {
  const last = parts.at(-1);
  if (last === undefined || !isOne(last)) {
    parts.push({ ...part });
  } else {
    last.to = Math.max(last.to, part.to);
    last.removed += part.removed;
  }
}

/** Adds touched datapoints, oldest first: one part an hour, and where `isNext` joins them. */
export function addTouched(parts: OpenParts, time: number, removed: 0 | 1, isNext = false): void {
  if (parts.length >= 2 * touchedPartsMax) {
    for (const [at, part] of parts.splice(0).entries()) addPart(parts, part, () => at % 2 > 0);
  }
  const hour = Math.floor(time / hourMs);
  addPart(
    parts,
    { from: time, to: time, removed },
    ({ to, removed: before }) =>
      (isNext && before < removedPerPart) || Math.floor(to / hourMs) === hour,
  );
}

/** All parts of some corrections in the order of time; those with an instant in common are one. */
export function joinParts(lists: readonly (readonly TouchedPart[])[]): readonly TouchedPart[] {
  const max = Math.max(partsPerCorrectionMin, Math.floor(touchedPartsMax / lists.length));
  const all = lists.flatMap((list) => {
    const each = Math.ceil(list.length / max);
    const few: OpenParts = [];
    for (const [at, part] of list.entries()) addPart(few, part, () => at % each > 0);
    return few;
  });
  const parts: OpenParts = [];
  for (const part of all.sort((a, b) => a.from - b.from)) {
    addPart(parts, part, ({ to }) => part.from <= to);
  }
  return parts;
}

/** The first of some parts, in the order of time, that ends at the instant or later. */
export function firstEndingFrom(parts: readonly Required<Range>[], time: number): number {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((parts[middle]?.to ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The parts that have an instant in common with the range. */
export function partsWithin(
  parts: readonly TouchedPart[],
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: Range,
): readonly TouchedPart[] {
  const end = firstEndingFrom(parts, to);
  const isIn = (parts[end]?.from ?? Number.POSITIVE_INFINITY) <= to;
  return parts.slice(firstEndingFrom(parts, from), isIn ? end + 1 : end);
}
