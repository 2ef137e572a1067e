import type { Instant } from '../../lib/clock.ts';
import type { Calibration } from '../devices/calibration.ts';
import type { Datapoint } from './datapoint.ts';
import { type DatapointColumns, numberIn } from './datapoint-columns.ts';
import type { SummariseOptions } from './datapoint-store.ts';
import { isShownExactly } from './standing.ts';
import { isStretchRun, type Stretches, type SummarisedPart } from './stretches.ts';

export interface Downsampled {
  /** Stored datapoints with numbers, in the order they came. */
  readonly datapoints: readonly Datapoint[];
  /** Datapoints that were left out because they are no numbers. */
  readonly skipped: number;
}

/** All datapoints from one instant to another, both included, oldest first, as they are shown. */
export type ReadRange = (range: {
  readonly from: Instant;
  readonly to: Instant;
}) => AsyncIterable<DatapointColumns>;

/** With fewer, the ends do not fit beside the peaks. */
const pointsWithEndsMin = 4;

/**
 * Downsamples `count` datapoints to at most `pointsMax` for plotting: cut into as many stretches of
 * equally many datapoints as `pointsMax` lets it, it keeps the least and the greatest number of
 * each, and the first and the last number of all. No datapoint is made up.
 */
export function createDownsampling({ count, pointsMax }: { count: number; pointsMax: number }) {
  const keepsEnds = pointsMax >= pointsWithEndsMin;
  const keepsAll = count <= pointsMax;
  const stretchesMax = Math.max(1, Math.floor((pointsMax - (keepsEnds ? 2 : 0)) / 2));
  const kept = createKept();
  let stretch = 0;
  let [taken, skipped, hasFirst] = [0, 0, false];
  let last: Place | undefined;

  /** Datapoints may have arrived since they were counted: they join the last stretch. */
  const stretchOf = (index: number): number =>
    Math.min(stretchesMax - 1, Math.floor((index / count) * stretchesMax));

  function enter(index: number): void {
    const own = stretchOf(index);
    if (own !== stretch) kept.addStretch();
    stretch = own;
  }

  function addRow(step: DatapointColumns, row: number, number: number): void {
    const index = taken + row;
    const place = (): Place => ({ index, datapoint: step.at(row) });
    if (keepsAll) {
      kept.add(place());
      return;
    }
    if (keepsEnds && !hasFirst) kept.add(place());
    hasFirst = true;
    enter(index);
    kept.consider(number, number, place);
  }

  function addColumns(step: DatapointColumns): void {
    let lastRow: number | undefined;
    for (let row = 0; row < step.count; row += 1) {
      const number = numberIn(step, row);
      if (Number.isNaN(number)) {
        skipped += 1;
      } else {
        addRow(step, row, number);
        lastRow = row;
      }
    }
    if (lastRow !== undefined) last = { index: taken + lastRow, datapoint: step.at(lastRow) };
    taken += step.count;
  }

  function addStretch(stretches: Stretches, at: number): void {
    const size = stretches.counts[at] ?? 0;
    const numbers = (stretches.numbers[at] ?? 0) + (stretches.textNumbers[at] ?? 0);
    skipped += size - numbers;
    if (numbers > 0) {
      const range = { from: stretches.starts[at] ?? 0, to: stretches.ends[at] ?? 0 };
      const place = (wanted: Hidden['wanted']): Place => ({ index: taken, size, range, wanted });
      if (keepsEnds && !hasFirst) kept.add(place('first'));
      hasFirst = true;
      enter(taken);
      kept.consider(stretches.min[at] ?? 0, stretches.max[at] ?? 0, place);
      last = place('last');
    }
    taken += size;
  }

  return {
    /** Of stretches that a store knows: those that lie in one of ours may come as what they are. */
    mayStandFor:
      (calibration: Calibration | undefined): SummariseOptions['mayStand'] =>
      (stretches, at, before) => {
        if (keepsAll || before === undefined) return false;
        const index = taken + before;
        const end = index + (stretches.counts[at] ?? 0) - 1;
        return stretchOf(index) === stretchOf(end) && isShownExactly(stretches, at, calibration);
      },
    /** Adds the next datapoints, oldest first where stretches represent some. */
    add(part: SummarisedPart): void {
      if (isStretchRun(part)) {
        for (let at = part.from; at < part.to; at += 1) addStretch(part.stretches, at);
      } else {
        addColumns(part);
      }
    },
    /** After all of them; `readRange` finds datapoints that stretches represented. */
    async finish(readRange?: ReadRange): Promise<Downsampled> {
      kept.addStretch();
      if (keepsEnds && last !== undefined) kept.add(last);
      return { datapoints: await kept.find(readRange), skipped };
    },
  };
}

/** A datapoint that may be kept, and its place among all. */
interface Found {
  readonly index: number;
  readonly datapoint: Datapoint;
}

/** A datapoint in a stretch that represents it; the stretch's first datapoint has the index. */
interface Hidden {
  readonly index: number;
  readonly size: number;
  readonly range: { readonly from: Instant; readonly to: Instant };
  /** The first datapoint with this number; or the first, or the last, with any. */
  readonly wanted: number | 'first' | 'last';
}

type Place = Found | Hidden;

function createKept() {
  /** In the order they came, but for those of one group. */
  const groups: (readonly Place[])[] = [];
  let least: Place | undefined;
  let greatest: Place | undefined;
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.NEGATIVE_INFINITY;

  return {
    add(place: Place): void {
      groups.push([place]);
    },
    /** Remembers the place of a number if it is a peak of its stretch so far. */
    consider(min: number, max: number, place: (number: number) => Place): void {
      if (min < minimum) {
        minimum = min;
        least = place(min);
      }
      if (max > maximum) {
        maximum = max;
        greatest = place(max);
      }
    },
    /** Keeps the peaks of a stretch that ended. */
    addStretch(): void {
      if (least !== undefined && greatest !== undefined) groups.push([least, greatest]);
      least = undefined;
      greatest = undefined;
      minimum = Number.POSITIVE_INFINITY;
      maximum = Number.NEGATIVE_INFINITY;
    },
    /** The datapoints in their order, each once. */
    async find(readRange: ReadRange | undefined): Promise<readonly Datapoint[]> {
      const datapoints: Datapoint[] = [];
      let lastIndex = -1;
      for (const group of groups) {
        const found: Found[] = [];
        for (const place of group) {
          const one = 'datapoint' in place ? place : await findHidden(place, readRange);
          if (one !== undefined) found.push(one);
        }
        for (const { index, datapoint } of found.sort((a, b) => a.index - b.index)) {
          if (index <= lastIndex) continue;
          lastIndex = index;
          datapoints.push(datapoint);
        }
      }
      return datapoints;
    },
  };
}

/** Undefined: it is gone meanwhile. */
async function findHidden(
  { index, size, range, wanted }: Hidden,
  readRange: ReadRange | undefined,
): Promise<Found | undefined> {
  const parts: DatapointColumns[] = [];
  for await (const part of readRange?.(range) ?? []) parts.push(part);
  // Of the time at which it begins, the stretch before may have some.
  let row = size - parts.reduce((sum, part) => sum + part.count, 0);
  let found: Found | undefined;
  for (const part of parts) {
    for (let at = 0; at < part.count; at += 1, row += 1) {
      if (row < 0) continue;
      const number = numberIn(part, at);
      if (typeof wanted === 'number' ? number !== wanted : Number.isNaN(number)) continue;
      found = { index: index + row, datapoint: part.at(at) };
      if (wanted !== 'last') return found;
    }
  }
  return found;
}
