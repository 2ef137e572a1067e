import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import { limits } from '../../limits.ts';
import { readColumnSteps } from '../column-steps.ts';
import type { SensorRef } from '../datapoint.ts';
import { type DatapointColumns, toDatapointColumns } from '../datapoint-columns.ts';
import type { DatapointStore, Page, Range, ScannedPart } from '../datapoint-store.ts';
import { type Interval, type Overlay, rowsOf } from './overlay.ts';

export const rangeOf = ({ from, to }: Interval): Range => ({
  ...(from !== -Infinity && { from }),
  ...(to !== Infinity && { to }),
});

/** A read of a sensor with corrections: all it does has one pace. */
export interface CorrectedRead {
  readonly sensor: SensorRef;
  readonly overlay: Overlay;
  readonly pace: Pace;
}

export type Pages = ReturnType<typeof createPages>;

/** Reads of a sensor with corrections. */
export function createPages(pushed: DatapointStore) {
  /** How many datapoints are removed in a whole interval: it never changes. */
  const removed = new WeakMap<Interval, number>();

  /** How many of what was pushed in the range is removed. */
  async function lacking(read: CorrectedRead, range: Range): Promise<number> {
    const { overlay, pace } = read;
    const { from = -Infinity, to = Infinity } = range;
    let count = 0;
    for (const interval of overlay.removals) {
      if (pace.isOver()) await pace.rest();
      if (interval.to < from || interval.from > to) continue;
      const isWhole = interval.from >= from && interval.to <= to;
      const inside = { from: Math.max(from, interval.from), to: Math.min(to, interval.to) };
      count += isWhole
        ? await lackingIn(read, interval)
        : await lackingInPart(read, inside, interval);
    }
    return count;
  }

  async function lackingIn(read: CorrectedRead, interval: Interval): Promise<number> {
    const known = removed.get(interval);
    if (known !== undefined) return known;
    const count = await countLacking(read, interval);
    removed.set(interval, count);
    return count;
  }

  async function lackingInPart(
    read: CorrectedRead,
    inside: Interval,
    interval: Interval,
  ): Promise<number> {
    const { sensor } = read;
    const ofWhole = await lackingIn(read, interval);
    // Where nothing is left of the whole, nothing is left of a part.
    const isAll = ofWhole === (await pushed.count(sensor, interval));
    return isAll ? pushed.count(sensor, rangeOf(inside)) : countLacking(read, inside);
  }

  async function countLacking(read: CorrectedRead, interval: Interval): Promise<number> {
    let count = 0;
    const page = { ...rangeOf(interval), order: 'asc', skip: 0, limit: Infinity } as const;
    for await (const columns of walk(read, page)) {
      count += columns.count - read.overlay.showColumns(columns).count;
    }
    return count;
  }

  /** The first part of the page that is not empty; cut, unless the page ends with it. */
  async function scan(
    read: CorrectedRead,
    page: Page,
    charactersMax: number,
  ): Promise<ScannedPart> {
    const { sensor, overlay, pace } = read;
    const segments = overlay.segments(page);
    let { skip } = page;
    for (const segment of page.order === 'asc' ? segments : segments.toReversed()) {
      const range = rangeOf(segment);
      if (pace.isOver()) await pace.rest();
      if (skip > 0 || segment.mayLack) {
        const lack = segment.mayLack ? await lacking(read, range) : 0;
        const count = (await pushed.count(sensor, range)) - lack;
        if (count <= skip) {
          skip -= count;
          continue;
        }
      }
      const limit = Math.min(page.limit, rowsAtOnce(overlay));
      const inside = { ...range, order: page.order, limit };
      const columns = segment.mayLack
        ? await firstLeft(read, { ...inside, skip })
        : overlay.showColumns(
            (await pushed.scan(sensor, { ...inside, skip }, charactersMax)).columns,
          );
      skip = 0;
      if (columns.count > 0) return { columns, isCut: true };
    }
    return { columns: toDatapointColumns([]), isCut: false };
  }

  /** The first of what is left where something is removed, as it is shown, behind the skip. */
  async function firstLeft(read: CorrectedRead, page: Page): Promise<DatapointColumns> {
    let { skip } = page;
    for await (const columns of walk(read, { ...page, skip: 0 })) {
      const left = read.overlay.showColumns(columns);
      if (left.count > skip) return rowsOf(left, skip, skip + page.limit);
      skip -= left.count;
    }
    return toDatapointColumns([]);
  }

  /** Walks through pushed datapoints step by step; one walk at a time, other work in between. */
  const walk = (
    { sensor: ref, overlay, pace }: CorrectedRead,
    page: Page,
  ): AsyncIterable<DatapointColumns> =>
    readColumnSteps({
      ...{ datapoints: pushed, ref, pace },
      page: { ...page, limit: Number.POSITIVE_INFINITY },
      room: { rowsMax: rowsAtOnce(overlay), charactersMax: limits.datapointCharactersPerStep },
    });

  return { lacking, scan };
}

/** Corrections checked for all rows of one step: some ten milliseconds. */
const looksPerStep = 200_000;

/** The more corrections there are to check, the fewer rows in one slice. */
export const rowsAtOnce = ({ corrections }: Overlay): number =>
  Math.min(
    limits.datapointsPerScan,
    Math.max(64, Math.floor(looksPerStep / Math.max(1, corrections.length))),
  );
