import type { Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { writeJson } from '../../../lib/long-json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { CorrectionId } from '../../ids.ts';
import { type Datapoint, orderTime } from '../datapoint.ts';
import type { DatapointColumns } from '../datapoint-columns.ts';
import type { Range } from '../datapoint-store.ts';
import { type Correction, reachesTo } from './correction.ts';

/** Order times, both ends included. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a range: one in which nothing is removed, or one in which something may be. */
export interface Segment extends Interval {
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
