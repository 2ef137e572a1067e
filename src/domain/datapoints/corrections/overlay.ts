import type { Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { writeJson } from '../../../lib/long-json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import type { CorrectionId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoint.ts';
import {
  type DatapointColumns,
  rowsOf,
  toDatapointColumns,
  withChanged,
} from '../datapoint-columns.ts';
import {
  type DatapointStore,
  type Page,
  type Range,
  readColumnSteps,
  type ScannedPart,
  type StepBudget,
} from '../datapoint-store.ts';
import { type Correction, reachesTo } from './correction.ts';
import {
  addTouched,
  firstEndingFrom,
  joinParts,
  type OpenParts,
  partsMaxOf,
  partsWithin,
  type TouchedPart,
} from './touched.ts';

/** Result of the corrections of a sensor for one datapoint. */
interface Followed {
  /** The datapoint as it is shown; undefined: it is removed. Untouched: the very same object. */
  readonly shown: Datapoint | undefined;
  /** The last correction that changed what is shown of it. */
  readonly by: CorrectionId | undefined;
}

/** Corrections of one sensor, as they apply to its datapoints. */
export type Overlay = ReturnType<typeof createOverlay>;
type Walk = (range: Range) => AsyncIterable<DatapointColumns>;

interface Step {
  readonly correction: Correction;
  /** The value that is removed, as JSON text. */
  readonly text: string | undefined;
  /** Corrected values, by timestamp, and by time of receipt. */
  readonly timed: ReadonlyMap<Instant, JsonValue>;
  readonly untimed: ReadonlyMap<Instant, JsonValue>;
  readonly bytes: number;
  parts: readonly TouchedPart[];
  /** The walk that finds the parts; undefined: none has begun, or it failed. */
  searched: Promise<void> | undefined;
}

/** A correction that was read never changes: it is taken apart once. */
const stepsMade = new WeakMap<Correction, Step>();

function stepOf(correction: Correction): Step {
  const step = stepsMade.get(correction) ?? makeStep(correction);
  stepsMade.set(correction, step);
  return step;
}

function makeStep(correction: Correction): Step {
  const { items, value, kind } = correction;
  const valuesOf = (isTimed: boolean) =>
    new Map(
      items.flatMap((one) => (one.isTimed === isTimed ? [[one.time, one.value] as const] : [])),
    );
  const text = value === undefined ? undefined : JSON.stringify(value);
  const [parts, searched] = [
    firstPartsOf(correction),
    kind === 'removed' ? undefined : Promise.resolve(),
  ];
  const [timed, untimed, bytes] = [valuesOf(true), valuesOf(false), bytesOf(correction)];
  return { correction, text, timed, untimed, bytes, parts, searched };
}

function firstPartsOf({ items, kind, from, to }: Correction): readonly TouchedPart[] {
  if (kind === 'removed') return [{ from, to, removed: 0 }];
  const parts: OpenParts = [];
  for (const time of Float64Array.from(items, (item) => item.time).sort()) {
    addTouched(parts, time, 0);
  }
  return parts;
}

const correctionBytes = 512;
const itemBytes = 160;
const partBytes = 128;

function bytesOf(correction: Correction): number {
  const { items, value } = correction;
  let bytes = correctionBytes + itemBytes * items.length + partBytes * partsMaxOf(correction);
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
export function createOverlay(corrections: readonly Correction[]) {
  const steps = corrections.map(stepOf);
  let parts = joinParts(steps.map((step) => step.parts));
  let isFound = false;

  function follow(datapoint: Datapoint, among: readonly Step[] = steps): Followed {
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
      const { correction: _, ...plain } = shown;
      shown = { ...plain, value };
      shownText = undefined;
      by = correction.id;
    }
    return { shown, by };
  }

  /** The rows within the parts as `look` answers them, and all others. */
  function pick(
    columns: DatapointColumns,
    look: (datapoint: Datapoint, followed: Followed) => Datapoint | undefined,
  ): DatapointColumns {
    const { count, times } = columns;
    const ends = [times[0] ?? 0, times[count - 1] ?? 0] as const;
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    const within = partsWithin(parts, { from, to });
    if (within.length === 0) return columns;
    const near = steps.filter(({ correction }) => correction.from <= to && correction.to >= from);
    const changed = new Map<number, Datapoint | undefined>();
    let part: TouchedPart | undefined;
    for (let row = 0; row < count; row += 1) {
      const time = times[row] ?? 0;
      if (part === undefined || time < part.from || time > part.to) {
        part = within[firstEndingFrom(within, time)];
        if (part === undefined || time < part.from) continue;
      }
      const datapoint = columns.at(row);
      const looked = look(datapoint, follow(datapoint, near));
      if (looked !== datapoint) changed.set(row, looked);
    }
    return changed.size === 0 ? columns : withChanged(columns, changed);
  }

  async function find(open: readonly Step[], walk: Walk): Promise<void> {
    const found = new Map(open.map(({ correction }) => [correction.id, [] as OpenParts]));
    let before: OpenParts | undefined;
    for (const { from, to } of joinParts(open.map((step) => step.parts))) {
      for await (const columns of walk({ from, to })) {
        for (let row = 0; row < columns.count; row += 1) {
          const { shown, by } = follow(columns.at(row));
          const removed = shown === undefined && by !== undefined ? found.get(by) : undefined;
          if (removed) addTouched(removed, columns.times[row] ?? 0, 1, removed === before);
          before = removed;
        }
      }
      before = undefined;
    }
    for (const step of open) step.parts = joinParts([found.get(step.correction.id) ?? []]);
  }

  async function search(walk: Walk): Promise<void> {
    if (isFound) return;
    const open = steps.filter(({ searched }) => searched === undefined);
    const searching = find(open, walk);
    for (const step of open) step.searched = searching;
    searching.catch(() => {
      for (const step of open) step.searched = undefined;
    });
    // Walks of other overlays count, too: corrections may have changed since one began.
    await Promise.all(steps.map(({ searched }) => searched));
    if (!isFound) parts = joinParts(steps.map((step) => step.parts));
    isFound = true;
  }

  return {
    corrections,
    /** About what it takes in memory. */
    bytes: steps.reduce((sum, { bytes }) => sum + bytes, 0),
    follow: (datapoint: Datapoint): Followed => follow(datapoint),
    /** The parts that corrections touched: no datapoint outside of them is changed. */
    parts: (): readonly TouchedPart[] => parts,
    /**
     * Finds what removals touched, by one walk through what was pushed for all who ask meanwhile:
     * it never changes. Until then the part of a removal is all of its range.
     */
    search,
    /** The same columns as they are shown; only the rows that are left. */
    showColumns: (columns: DatapointColumns): DatapointColumns =>
      pick(columns, (_, { shown }) => shown),
    /** The same columns, each datapoint with the correction that touched it. */
    markColumns(columns: DatapointColumns): DatapointColumns {
      const marked = pick(columns, (datapoint, { by }) =>
        by === undefined ? datapoint : { ...datapoint, correction: by },
      );
      if (marked === columns) return columns;
      // Without these each row is read as a datapoint, with its correction.
      const { received: _received, timed: _timed, ...rest } = marked;
      return rest;
    },
  };
}

/** A read of a sensor with corrections: all it does has one pace. */
export interface CorrectedRead {
  readonly sensor: SensorRef;
  readonly overlay: Overlay;
  readonly pace: Pace;
}

/** Reads of a sensor with corrections. */
export function createPages(pushed: DatapointStore) {
  /** The parts that corrections touched in the range. */
  async function partsOf(read: CorrectedRead, range: Range): Promise<readonly TouchedPart[]> {
    await read.overlay.search((inside) => walk(read, inside));
    return partsWithin(read.overlay.parts(), range);
  }

  const isGone = async ({ sensor }: CorrectedRead, part: TouchedPart): Promise<boolean> =>
    (await pushed.count(sensor, part)) === part.removed;

  /** How many of what was pushed in the range is shown. */
  async function count(read: CorrectedRead, range: Range): Promise<number> {
    const parts = await partsOf(read, range);
    let shown = (await pushed.count(read.sensor, range)) - removedIn(parts);
    for (const part of new Set([parts[0], parts.at(-1)])) {
      if (part === undefined || part.removed === 0) continue;
      const from = Math.max(part.from, range.from ?? part.from);
      const to = Math.min(part.to, range.to ?? part.to);
      if (from === part.from && to === part.to) continue;
      shown += part.removed;
      if (await isGone(read, part)) {
        shown -= await pushed.count(read.sensor, { from, to });
        continue;
      }
      for await (const columns of walk(read, { from, to })) {
        shown -= columns.count - read.overlay.showColumns(columns).count;
      }
    }
    // Retention in another process may have taken what counts as removed here.
    return Math.max(0, shown);
  }

  /** The same page, from behind the parts of which nothing is left where it begins. */
  async function behindGone(read: CorrectedRead, page: Page): Promise<Page> {
    const { from: begin = Number.NEGATIVE_INFINITY } = page;
    const [part] = await partsOf(read, { from: begin, to: begin });
    if (part === undefined || !(await isGone(read, part))) return page;
    // Hours that retention left are no datapoints: nothing is known of a place behind them.
    if ((await pushed.standsFrom([read.sensor], page)) !== undefined) return page;
    const { from } = (await placeOf(read, { ...page, order: 'asc', skip: 0 })).page;
    return from === page.from || from === undefined ? page : { ...page, from, skip: 0 };
  }

  /**
   * The page from a later place on, and how many of what is shown from there are to be skipped:
   * what comes before is counted part by part, not read.
   */
  async function placeOf(
    read: CorrectedRead,
    page: Walked,
  ): Promise<{ readonly page: Walked; readonly skip: number }> {
    const inside = await partsOf(read, page);
    if (removedIn(inside) === 0) return { page, skip: 0 };
    const isAscending = page.order === 'asc';
    const parts = isAscending ? inside : inside.toReversed();
    const [near, far, step] = isAscending
      ? (['from', 'to', 1] as const)
      : (['to', 'from', -1] as const);
    let [low, high, passed] = [0, parts.length + 1, 0];
    while (high - low > 1) {
      const middle = Math.min(2 * low + 1, (low + high) >>> 1);
      const since = low === 0 ? page : { ...page, [near]: (parts[low - 1]?.[far] ?? 0) + step };
      const until = parts[middle - 1]?.[far] ?? 0;
      const shown = passed + (await count(read, { ...since, [far]: until }));
      if (shown <= page.skip) [low, passed] = [middle, shown];
      else high = middle;
    }
    const [before, next, skip] = [parts[low - 1], parts[low], page.skip - passed];
    const start = before === undefined ? page : { ...page, [near]: before[far] + step };
    if (next === undefined) return { page: { ...start, skip }, skip: 0 };
    const between = await pushed.count(read.sensor, { ...start, [far]: next[near] - step });
    if (between > skip) return { page: { ...start, skip }, skip: 0 };
    const begin = between === 0 ? start : { ...start, [near]: next[near] };
    return { page: { ...begin, skip: 0 }, skip: skip - between };
  }

  /** The first part of the page that is not empty; cut, unless the page ends with it. */
  async function scan(
    read: CorrectedRead,
    page: Page,
    charactersMax: number,
  ): Promise<ScannedPart> {
    let { page: begin, skip } = await placeOf(read, page);
    const most = stepFor(read.overlay);
    const room = { rowsMax: Math.min(most.rowsMax, skip + page.limit), charactersMax };
    for await (const columns of walk(read, begin, room)) {
      const shown = read.overlay.showColumns(columns);
      const left = rowsOf(shown, Math.min(skip, shown.count), skip + page.limit);
      // All of a step that is longer than was asked for would stay in memory with its rows.
      const isLong = room.charactersMax > charactersMax;
      if (left.count > 0) {
        return { columns: isLong ? toDatapointColumns([left.at(0)]) : left, isCut: true };
      }
      skip -= shown.count;
      // Else each removed datapoint before a short page would be a step of its own.
      room.rowsMax = Math.min(most.rowsMax, 2 * room.rowsMax);
      room.charactersMax = Math.max(charactersMax, most.charactersMax);
    }
    return { columns: toDatapointColumns([]), isCut: false };
  }

  /** Walks through pushed datapoints step by step; one walk at a time, other work in between. */
  const walk = (
    { sensor: ref, overlay, pace }: CorrectedRead,
    page: Partial<Page>,
    room: StepBudget = stepFor(overlay),
  ): AsyncIterable<DatapointColumns> =>
    readColumnSteps({
      ...{ datapoints: pushed, ref, pace, room },
      page: { order: 'asc', skip: 0, ...page, limit: Number.POSITIVE_INFINITY },
    });

  return { behindGone, count, scan };
}

type Walked = Omit<Page, 'limit'>;

const removedIn = (parts: readonly TouchedPart[]): number =>
  parts.reduce((sum, { removed }) => sum + removed, 0);

const stepFor = (overlay: Overlay): StepBudget => ({
  rowsMax: rowsAtOnce(overlay),
  charactersMax: limits.datapointCharactersPerStep,
});

/** Corrections checked for all rows of one step: some ten milliseconds. */
const looksPerStep = 200_000;

/** The more corrections there are to check, the fewer rows in one slice. */
export const rowsAtOnce = ({ corrections }: Overlay): number =>
  Math.min(
    limits.datapointsPerScan,
    Math.max(64, Math.floor(looksPerStep / Math.max(1, corrections.length))),
  );
