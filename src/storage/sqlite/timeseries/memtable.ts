import { type ColumnBatch, weightOfBatch } from '../../../domain/datapoints/column-batch.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { createLiveSeries } from './live-series.ts';
import {
  appendRows,
  bytesOfRows,
  joinRows,
  rowsWithin,
  splitRows,
  timeAt,
} from './memtable-columns.ts';
import { joinPush, type PackedSeries, pushesOf } from './packed-series.ts';
import {
  emptyMemtableEntry,
  type LoggedSeries,
  type MemtableEntry,
  type Series,
  settleLast,
} from './series.ts';

/** All datapoints outside chunks, and which of them should go there next. */
export interface Memtable extends LoggedSeries {
  /** About what all of them take in memory. */
  readonly bytes: number;
  /** Adds datapoints that the log row `row` made durable. */
  add(series: Series, batch: ColumnBatch, row: number): void;
  /** The log row `row` made staged datapoints of the series durable: the first ones, these. */
  keep(series: Series, batch: ColumnBatch, row: number, weight: number): void;
  /** Keeps what a replayed row brings as bytes; false: it is too much of its series for that. */
  pack(push: LoggedPush, row: number): boolean;
  /** When the last packed datapoint was received, of those up to `atMost`; undefined: none. */
  newestPacked(atMost: Instant): Instant | undefined;
  /** Counts datapoints that a replayed row holds although they are in chunks. */
  passOver(batch: ColumnBatch, row: number): void;
  /** The weight that series have outside chunks, as it counts towards quotas. */
  weights(): Iterable<readonly [series: number, weight: number]>;
  /** All of the series is due, however little it is. */
  want(series: Series): void;
  /** Whether freezeDue would find something. */
  isDue(): boolean;
  /** Whether what is due must not wait: half of the capacity is taken, or much is of one sensor. */
  isUrgent(): boolean;
  /** Nothing arrived for a while: all is due until something does, if it is worth the work. */
  rest(): void;
  /** Freezes what is to be flushed next: full entries, else the oldest while there are too many. */
  freezeDue(): readonly Series[];
  /** The frozen datapoints of the series are in chunks. */
  settle(series: Series): void;
  /** The flush failed: frozen rows go back to the head of their entry, series to their places. */
  restore(picked: readonly Series[]): void;
  drop(series: Series): void;
  /** Every datapoint of log rows up to this one is in chunks, or frozen. */
  doneThrough(): number;
}

/** A sensor with as much as so many full ones takes long to put in order. */
const crowdedEntries = 4;

/** An empty memtable; `make` brings a series to memory, with what is packed of it. */
export function createMemtable(
  limits: DatapointLimits,
  make: (number: number) => Series | undefined = () => undefined,
): Memtable {
  const live = createLiveSeries(limits);
  const full = new Set<Series>();
  let liveBytes = 0;
  let frozenBytes = 0;
  let logged = 0;
  let lastRow = 0;
  let isResting = false;

  function keep(series: Series, batch: ColumnBatch, row: number, weight: number): void {
    const { memtableEntry } = series;
    isResting = false;
    const added = bytesOfRows(batch) + (memtableEntry.count === 0 ? limits.memtableEntryBytes : 0);
    if (memtableEntry.count === 0) {
      Object.assign(memtableEntry, { firstRow: row, startedAt: logged, isSorted: true });
      live.put(series);
    }
    enter(memtableEntry, batch, weight, added);
    series.sorted = undefined;
    liveBytes += added;
    logged += added;
    lastRow = row;
    if (memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
  }

  /** Bytes that the log keeps: the rest of an entry keeps all its rows, also those done. */
  const loggedBytes = (): number => logged - (live.first()?.startedAt ?? logged);

  function isTooMuch(): boolean {
    if (live.size === 0) return false;
    return isResting || liveBytes > limits.memtableBytesMax || loggedBytes() > limits.logBytesMax;
  }

  /** Undefined also where one go finds removed ones alone, or, behind frozen ones, fails. */
  function nextDue(isBehind: boolean): Series | undefined {
    for (const series of full) return series;
    const dropped = (bytes: number) => {
      liveBytes -= bytes;
    };
    try {
      return isTooMuch() ? live.oldest(make, dropped) : undefined;
    } catch (error) {
      if (isBehind) return undefined;
      throw error;
    }
  }

  function freeze(series: Series, bytesMax: number): number {
    const { bytes } = series.memtableEntry;
    const frozen = partHead(series, bytesMax);
    if (series.memtableEntry.count === 0) live.remove(series.number);
    if (series.memtableEntry.bytes < limits.memtableEntryBytesMax) full.delete(series);
    liveBytes += series.memtableEntry.bytes - bytes;
    frozenBytes += frozen.bytes;
    return frozen.bytes;
  }

  function thaw(series: Series): void {
    const { frozen, memtableEntry } = series;
    if (frozen === undefined) return;
    joinHead(series, frozen);
    live.put(series);
    if (series.memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
    liveBytes += series.memtableEntry.bytes - memtableEntry.bytes;
    frozenBytes -= frozen.bytes;
  }

  return {
    get bytes() {
      return liveBytes + frozenBytes;
    },
    add(series, batch, row) {
      appendRows(series.memtableEntry.columns, batch, 0, batch.count);
      keep(series, batch, row, weightOfBatch(batch));
    },
    keep,
    pack(push, row) {
      const bytes = live.pack(push, row, logged);
      if (bytes === undefined) return false;
      liveBytes += bytes;
      logged += bytes;
      lastRow = row;
      return true;
    },
    newestPacked: live.newestPacked,
    fill(series) {
      const packed = live.packed(series.number);
      if (packed !== undefined) fillEntry(series, packed, limits.memtableEntryBytes);
    },
    adopt(series) {
      const packed = live.packed(series.number);
      if (packed === undefined) return;
      live.put(series);
      const { bytes } = series.memtableEntry;
      liveBytes += bytes - packed.bytes;
      if (bytes >= limits.memtableEntryBytesMax) full.add(series);
    },
    passOver(batch, row) {
      logged += bytesOfRows(batch);
      lastRow = row;
    },
    weights: live.weights,
    want(series) {
      if (series.memtableEntry.count > 0) full.add(series);
    },
    isDue: () => full.size > 0 || isTooMuch(),
    isUrgent() {
      if (2 * liveBytes > limits.memtableBytesMax) return true;
      return (
        2 * loggedBytes() > limits.logBytesMax || isCrowded(full, limits.memtableEntryBytesMax)
      );
    },
    rest() {
      const worthwhile = Math.max(limits.restBytesMin, limits.restEntryBytesMin * live.size);
      isResting = Math.max(liveBytes, loggedBytes()) >= worthwhile;
    },
    freezeDue() {
      const frozen: Series[] = [];
      let room = limits.flushBytesPerStep;
      while (room > 0 && frozen.length < limits.flushSeriesPerStep) {
        const series = nextDue(frozen.length > 0);
        // A memtableEntry longer than one step comes again in the next.
        if (series === undefined || series.frozen !== undefined) break;
        room -= freeze(series, room);
        frozen.push(series);
      }
      return frozen;
    },
    settle(series) {
      if (series.frozen === undefined) return;
      frozenBytes -= series.frozen.bytes;
      settleFrozen(series, series.frozen);
    },
    restore(picked) {
      for (const series of picked) thaw(series);
      live.sort();
    },
    drop(series) {
      liveBytes -= series.memtableEntry.bytes;
      frozenBytes -= series.frozen?.bytes ?? 0;
      series.memtableEntry = emptyMemtableEntry();
      series.frozen = undefined;
      series.sequenceNumbers = undefined;
      live.remove(series.number);
      full.delete(series);
    },
    doneThrough: () => (live.first()?.firstRow ?? lastRow + 1) - 1,
  };
}

/** Whether a sensor has as much as some full ones. Fewer than a hundred are full at a time. */
function isCrowded(full: Iterable<Series>, entryBytesMax: number): boolean {
  for (const { memtableEntry } of full) {
    if (memtableEntry.bytes >= crowdedEntries * entryBytesMax) return true;
  }
  return false;
}

function settleFrozen(series: Series, frozen: MemtableEntry): void {
  const flushed = series.flushed + frozen.count;
  settleLast(series, flushed);
  series.flushed = flushed;
  series.gap = undefined;
  series.frozen = undefined;
  series.sorted = undefined;
  series.sequenceNumbers = undefined;
}

/** Freezes datapoints of at most so many bytes, or one, from the head of the memtableEntry. */
function partHead(series: Series, bytesMax: number): MemtableEntry {
  const entry = series.memtableEntry;
  const count = rowsWithin(entry.columns, entry.count, bytesMax);
  const [frozen, rest] =
    count === entry.columns.count ? [entry, emptyMemtableEntry()] : splitEntry(entry, count);
  Object.assign(series, { frozen, memtableEntry: rest, sorted: undefined });
  return frozen;
}

/** Puts frozen datapoints back. */
function joinHead(series: Series, frozen: MemtableEntry): void {
  const { memtableEntry } = series;
  series.memtableEntry = {
    ...frozen,
    columns: joinRows(frozen.columns, memtableEntry.columns),
    count: frozen.count + memtableEntry.count,
    weight: frozen.weight + memtableEntry.weight,
    bytes: frozen.bytes + memtableEntry.bytes,
    isSorted: false,
  };
  series.frozen = undefined;
  series.sorted = undefined;
}

/** The first `count` datapoints of an entry, and the others with what is staged. */
function splitEntry(
  entry: MemtableEntry,
  count: number,
): [head: MemtableEntry, rest: MemtableEntry] {
  const [columns, others] = splitRows(entry.columns, count);
  const weight = weightOfBatch(columns);
  const bytes = bytesOfRows(columns);
  const rest = {
    columns: others,
    count: entry.count - count,
    weight: entry.weight - weight,
    bytes: entry.bytes - bytes,
  };
  return [
    { ...entry, columns, count, weight, bytes },
    rest.count === 0 ? { ...emptyMemtableEntry(), columns: others } : { ...entry, ...rest },
  ];
}

/** Remembers whether the datapoints that are added next are in order of time, too. */
function noteOrder(memtableEntry: MemtableEntry, { count, times }: ColumnBatch): void {
  let latest = newestOf(memtableEntry);
  for (let row = 0; row < count; row += 1) {
    const time = times[row] ?? 0;
    if (time < latest) memtableEntry.isSorted = false;
    else latest = time;
  }
}

/** Counts datapoints that are in the columns of an entry, and take so many bytes. */
function enter(entry: MemtableEntry, batch: ColumnBatch, weight: number, bytes: number): void {
  noteOrder(entry, batch);
  entry.count += batch.count;
  entry.weight += weight;
  entry.bytes += bytes;
}

/** Adds what is packed to a series; entryBytes: what a series takes beside its datapoints. */
function fillEntry(series: Series, packed: PackedSeries, entryBytes: number): void {
  const { memtableEntry } = series;
  Object.assign(memtableEntry, { firstRow: packed.firstRow, startedAt: packed.startedAt });
  memtableEntry.bytes = entryBytes;
  for (const push of pushesOf(packed)) {
    joinPush(series, push, (batch) => {
      appendRows(memtableEntry.columns, batch, 0, batch.count);
      enter(memtableEntry, batch, weightOfBatch(batch), bytesOfRows(batch));
    });
  }
}

function newestOf({ columns, count }: MemtableEntry): number {
  return count === 0 ? Number.NEGATIVE_INFINITY : timeAt(columns, count - 1);
}
