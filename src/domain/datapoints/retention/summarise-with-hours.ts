import type { Instant } from '../../../lib/clock.ts';
import { rowsOf } from '../corrections/overlay.ts';
import { type DatapointColumns, timeIn } from '../datapoint-columns.ts';
import type { Page, SummarisedStep } from '../datapoint-store.ts';
import { isStretchRun, type Stretches, type SummarisedPart } from '../stretches.ts';
import { startOfHour } from './hours.ts';
import { hourMs } from './retention.ts';

/** How far retention has come with a sensor. */
export interface RetainedState {
  /** Older datapoints were taken; there may be some that came later. */
  readonly rawBefore: Instant;
  /** The hour that some of its datapoints were taken of, and others not yet. */
  readonly openHour?: Instant;
}

export interface HourlyRead {
  readonly page: Page;
  readonly state: RetainedState | undefined;
  /** Hours that begin in the range, both ends included, oldest first: at most so many. */
  readonly hours: (from: Instant, to: Instant, max: number) => Stretches;
  /** A step of what is there as datapoints; without `mayStand` no stretch represents any. */
  readonly raw: (page: Page, mayStand: boolean) => SummarisedStep;
}

/** Hours that one step asks for at most. */
export const hoursPerStep = 2_048;

/**
 * A step of a summarised page: hours where datapoints were taken, and behind them datapoints. A
 * page that ends after so many datapoints has no hours: it is unknown what part of one is in it.
 */
export function summariseWithHours({ page, state, hours, raw }: HourlyRead): SummarisedStep {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = page;
  if (state === undefined || page.limit !== Number.POSITIVE_INFINITY || from >= state.rawBefore) {
    return raw(page, true);
  }
  const lastOfTaken = Math.min(to, state.rawBefore - 1);
  const found = hours(startOfHour(from), lastOfTaken, hoursPerStep);
  const lastHour = found.starts[found.count - 1] ?? 0;
  const isAll = found.count < hoursPerStep;
  const end = isAll ? lastOfTaken : Math.min(lastOfTaken, lastHour + hourMs - 1);
  const step = raw({ ...page, to: end }, false);
  const emit = {
    // Where datapoints of the page's first instant were seen, so was the hour that begins then.
    first: page.skip > 0 ? from + 1 : from,
    last: step.next === undefined ? end : endBefore(step.next),
  };
  const parts = merge(found, step.parts, { ...emit, openHour: state.openHour });
  const { to: _, ...open } = step.next ?? { ...page, from: end + 1, skip: 0 };
  if (step.next === undefined && end >= to) return { parts };
  return { parts, next: page.to === undefined ? open : { ...open, to: page.to } };
}

const endBefore = ({ from = Number.NEGATIVE_INFINITY, skip }: Page): Instant =>
  skip > 0 ? from : from - 1;

/** Hours that begin in the range, and between them the datapoints that none of them counts. */
function merge(
  hours: Stretches,
  parts: readonly SummarisedPart[],
  range: {
    readonly first: Instant;
    readonly last: Instant;
    readonly openHour: Instant | undefined;
  },
): readonly SummarisedPart[] {
  const merged: SummarisedPart[] = [];
  const closed = new Set(hours.starts);
  if (range.openHour !== undefined) closed.delete(range.openHour);
  let at = 0;
  while (at < hours.count && (hours.starts[at] ?? 0) < range.first) at += 1;

  function putHours(until: Instant): void {
    const from = at;
    while (at < hours.count && (hours.starts[at] ?? 0) <= Math.min(until, range.last)) at += 1;
    if (at > from) merged.push({ stretches: hours, from, to: at });
  }

  function putRows(columns: DatapointColumns): void {
    for (let row = 0; row < columns.count; ) {
      const hour = startOfHour(timeIn(columns, row));
      let end = row + 1;
      while (end < columns.count && timeIn(columns, end) < hour + hourMs) end += 1;
      if (!closed.has(hour)) {
        putHours(timeIn(columns, row));
        merged.push(rowsOf(columns, row, end));
      }
      row = end;
    }
  }

  for (const part of parts) if (!isStretchRun(part)) putRows(part);
  putHours(range.last);
  return merged;
}
