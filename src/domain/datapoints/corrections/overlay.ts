import type { Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { writeJson } from '../../../lib/long-json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { CorrectionId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoint.ts';
import { type DatapointColumns, toDatapointColumns } from '../datapoint-columns.ts';
import {
  type DatapointStore,
  type Page,
  type Range,
  readColumnSteps,
  type ScannedPart,
} from '../datapoint-store.ts';
import { type Correction, reachesTo } from './correction.ts';

/** Order times, both ends included. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a range: one in which nothing is removed, or one in which something may be. */
interface Segment extends Interval {
  readonly mayLack: boolean;
}

/** Corrections of one sensor, as they apply to its datapoints. Pure. */
export interface Overlay {
  readonly corrections: readonly Correction[];
  /** About what it takes in memory. */
  readonly bytes: number;
  /** Where datapoints may be removed, by time; none of them touch each other. */
  readonly removals: readonly Interval[];
  /** The datapoint as it is shown; undefined: it is removed. Untouched: the very same object. */
  show(datapoint: Datapoint): Datapoint | undefined;
  /** The last correction that changed what is shown of the datapoint. */
  touching(datapoint: Datapoint): CorrectionId | undefined;
  /** The range in parts, oldest first. */
  segments(range: Range): readonly Segment[];
  /** The same columns as they are shown; only the rows that are left. */
  showColumns(columns: DatapointColumns): DatapointColumns;
}

interface Step {
  readonly correction: Correction;
  /** The value that is removed, as JSON text. */
  readonly text: string | undefined;
  /** Corrected values, by timestamp, and by time of receipt. */
  readonly timed: ReadonlyMap<Instant, JsonValue>;
  readonly untimed: ReadonlyMap<Instant, JsonValue>;
  readonly bytes: number;
}

/** A correction that was read never changes: it is taken apart once. */
const stepsMade = new WeakMap<Correction, Step>();

function stepOf(correction: Correction): Step {
  const known = stepsMade.get(correction);
  if (known !== undefined) return known;
  const step = makeStep(correction);
  stepsMade.set(correction, step);
  return step;
}

function makeStep(correction: Correction): Step {
  const { items, value } = correction;
  const valuesOf = (isTimed: boolean): ReadonlyMap<Instant, JsonValue> =>
    new Map(
      items.filter((item) => item.isTimed === isTimed).map((item) => [item.time, item.value]),
    );
  const text = value === undefined ? undefined : JSON.stringify(value);
  const bytes = bytesOf(correction);
  return { correction, text, timed: valuesOf(true), untimed: valuesOf(false), bytes };
}

const correctionBytes = 512;
const itemBytes = 160;

function bytesOf({ items, value }: Correction): number {
  let bytes = correctionBytes + itemBytes * items.length;
  for (const item of items) bytes += textLength(item.value);
  return value === undefined ? bytes : bytes + textLength(value);
}

const textLength = (value: JsonValue): number =>
  typeof value === 'number' ? 0 : 2 * JSON.stringify(value).length;

/** The same as `createOverlay`, in slices: there may be half a megabyte of values. */
export async function loadOverlay(
  corrections: readonly Correction[],
  pace: Pace,
): Promise<Overlay> {
  for (const correction of corrections) {
    stepOf(correction);
    if (pace.isOver()) await pace.rest();
  }
  return createOverlay(corrections);
}

/** `corrections` in the order in which they were made. */
export function createOverlay(corrections: readonly Correction[]): Overlay {
  const steps = corrections.map(stepOf);
  const removals = merged(corrections.filter(({ kind }) => kind === 'removed'));
  const first = corrections.reduce((min, { from }) => Math.min(min, from), Infinity);
  const last = corrections.reduce((max, { to }) => Math.max(max, to), -Infinity);

  function follow(
    datapoint: Datapoint,
    among: readonly Step[],
  ): { readonly shown: Datapoint | undefined; readonly by: CorrectionId | undefined } {
    const time = orderTime(datapoint);
    let shown = datapoint;
    let shownText: string | undefined;
    let by: CorrectionId | undefined;
    for (const { correction, text, timed, untimed } of among) {
      if (time < correction.from || time > correction.to) continue;
      if (!reachesTo(correction.reach, datapoint.receivedAt)) continue;
      if (correction.kind === 'removed') {
        if (text !== undefined) shownText ??= writeJson(shown.value);
        if (text === undefined || text === shownText) {
          return { shown: undefined, by: correction.id };
        }
        continue;
      }
      const value = (datapoint.timestamp === undefined ? untimed : timed).get(time);
      if (value === undefined) continue;
      shown = { ...shown, value };
      shownText = undefined;
      by = correction.id;
    }
    return { shown, by };
  }

  return {
    corrections,
    bytes: steps.reduce((sum, { bytes }) => sum + bytes, 0),
    removals,
    show: (datapoint) => follow(datapoint, steps).shown,
    touching: (datapoint) => follow(datapoint, steps).by,
    segments: ({ from = -Infinity, to = Infinity }) => segmentsOf(removals, { from, to }),
    showColumns(columns) {
      const { count, times } = columns;
      const [start, end] = [times[0] ?? 0, times[count - 1] ?? 0];
      const [from, to] = start <= end ? [start, end] : [end, start];
      const near = steps.filter(({ correction }) => correction.from <= to && correction.to >= from);
      if (count === 0 || near.length === 0) return columns;
      return pick(columns, (row) => {
        const time = times[row] ?? 0;
        if (time < first || time > last) return 'same';
        const datapoint = columns.at(row);
        const { shown } = follow(datapoint, near);
        return shown === datapoint ? 'same' : shown;
      });
    },
  };
}

/** The rows that `look` keeps, as it answers them. */
function pick(
  columns: DatapointColumns,
  look: (row: number) => Datapoint | 'same' | undefined,
): DatapointColumns {
  const rows: number[] = [];
  const changed = new Map<number, Datapoint>();
  for (let row = 0; row < columns.count; row += 1) {
    const shown = look(row);
    if (shown === undefined) continue;
    if (shown !== 'same') changed.set(rows.length, shown);
    rows.push(row);
  }
  const at = (row: number): Datapoint => changed.get(row) ?? columns.at(rows[row] ?? 0);
  const numbers = Float64Array.from(rows, (row) => columns.numbers[row] ?? Number.NaN);
  for (const [row, { value }] of changed) {
    numbers[row] = typeof value === 'number' ? value : Number.NaN;
  }
  const times = Float64Array.from(rows, (row) => columns.times[row] ?? 0);
  return { count: rows.length, times, numbers, at };
}

/** Some rows of columns, one after the other. */
export function rowsOf(columns: DatapointColumns, from: number, to: number): DatapointColumns {
  if (from === 0 && to >= columns.count) return columns;
  const times = columns.times.slice(from, to);
  const numbers = columns.numbers.slice(from, to);
  return { count: times.length, times, numbers, at: (row) => columns.at(from + row) };
}

/** Intervals that overlap, or follow each other at once, as one. */
function merged(intervals: readonly Interval[]): readonly Interval[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

function segmentsOf(removals: readonly Interval[], range: Interval): readonly Segment[] {
  const segments: Segment[] = [];
  let { from } = range;
  for (const removal of removals) {
    if (removal.to < from) continue;
    if (removal.from > range.to) break;
    if (removal.from > from) segments.push({ from, to: removal.from - 1, mayLack: false });
    const inside = { from: Math.max(from, removal.from), to: Math.min(range.to, removal.to) };
    segments.push({ ...inside, mayLack: true });
    from = inside.to + 1;
  }
  if (from <= range.to) segments.push({ from, to: range.to, mayLack: false });
  return segments;
}

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
