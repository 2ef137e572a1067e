import type { Datapoint } from './datapoint.ts';
import { type DatapointColumns, numberIn } from './datapoint-columns.ts';

export interface DownsamplingPlan {
  /** How many datapoints there are to downsample. */
  readonly count: number;
  readonly pointsMax: number;
}

export interface Downsampled {
  /** Stored datapoints with numbers, in the order they came. */
  readonly datapoints: readonly Datapoint[];
  /** Datapoints that were left out because they are no numbers. */
  readonly skipped: number;
}

/** With fewer there is no room for the ends beside the peaks. */
const pointsWithEndsMin = 4;

/**
 * Downsamples datapoints to at most `pointsMax` of them for plotting: cut into as many stretches of
 * equally many datapoints as there is room for, it keeps the least and the greatest number of each,
 * and the first and the last number of all. No datapoint is made up.
 */
export async function downsample(
  steps: AsyncIterable<DatapointColumns>,
  plan: DownsamplingPlan,
): Promise<Downsampled> {
  const kept = createKept();
  const take = plan.count <= plan.pointsMax ? takeAll(kept) : takePeaks(kept, plan);
  let taken = 0;
  let skipped = 0;
  let last: Candidate | undefined;
  for await (const step of steps) {
    let lastRow: number | undefined;
    for (let row = 0; row < step.count; row += 1) {
      const number = numberIn(step, row);
      if (Number.isNaN(number)) {
        skipped += 1;
      } else {
        take({ step, row, index: taken + row, number });
        lastRow = row;
      }
    }
    if (lastRow !== undefined) last = candidate({ step, row: lastRow, index: taken + lastRow });
    taken += step.count;
  }
  kept.addStretch();
  if (plan.pointsMax >= pointsWithEndsMin) kept.add(last);
  return { datapoints: kept.datapoints, skipped };
}

/** Where a datapoint is: in this row of a step, and in this place among all. */
interface RowPosition {
  readonly step: DatapointColumns;
  readonly row: number;
  readonly index: number;
}

interface NumberedRow extends RowPosition {
  readonly number: number;
}

/** A datapoint that may be kept. */
interface Candidate {
  readonly index: number;
  readonly datapoint: Datapoint;
}

const candidate = ({ step, row, index }: RowPosition): Candidate => ({
  index,
  datapoint: step.at(row),
});

type Kept = ReturnType<typeof createKept>;

const takeAll = (kept: Kept) => (place: NumberedRow) => kept.add(candidate(place));

function takePeaks(kept: Kept, { count, pointsMax }: DownsamplingPlan) {
  const keepsEnds = pointsMax >= pointsWithEndsMin;
  const stretches = Math.max(1, Math.floor((pointsMax - (keepsEnds ? 2 : 0)) / 2));
  let stretch = 0;
  return (place: NumberedRow): void => {
    if (keepsEnds && kept.datapoints.length === 0) kept.add(candidate(place));
    // Datapoints may have arrived since they were counted: they join the last stretch.
    const own = Math.min(stretches - 1, Math.floor((place.index / count) * stretches));
    if (own !== stretch) kept.addStretch();
    stretch = own;
    kept.consider(place);
  };
}

function createKept() {
  const datapoints: Datapoint[] = [];
  let lastIndex = -1;
  let least: Candidate | undefined;
  let greatest: Candidate | undefined;
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.NEGATIVE_INFINITY;

  function add(one: Candidate | undefined): void {
    if (one === undefined || one.index <= lastIndex) return;
    lastIndex = one.index;
    datapoints.push(one.datapoint);
  }
  return {
    datapoints,
    add,
    /** Remembers the datapoint if it is a peak of its stretch so far. */
    consider(place: NumberedRow): void {
      if (place.number < minimum) {
        minimum = place.number;
        least = candidate(place);
      }
      if (place.number > maximum) {
        maximum = place.number;
        greatest = candidate(place);
      }
    },
    /** Keeps the peaks of a stretch that ended. */
    addStretch(): void {
      const isRising = (least?.index ?? 0) < (greatest?.index ?? 0);
      add(isRising ? least : greatest);
      add(isRising ? greatest : least);
      least = undefined;
      greatest = undefined;
      minimum = Number.POSITIVE_INFINITY;
      maximum = Number.NEGATIVE_INFINITY;
    },
  };
}
