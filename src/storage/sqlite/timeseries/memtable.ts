import {
  type ColumnBatch,
  lastRowAmong,
  sliceBatch,
  weightOfBatch,
} from '../../../domain/datapoints/column-batch.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DamagedRows } from '../../faults.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { LiveSeries } from './live-series.ts';
import {
  appendRows,
  bytesOfRows,
  joinRows,
  rowsWithin,
  splitRows,
  timeAt,
} from './memtable-columns.ts';
import type { PackedPush } from './packed-pushes.ts';
import {
  emptyMemtableEntry,
  hasLast,
  type MemtableEntry,
  moveLast,
  nextSequenceNumber,
  type Series,
  settleLast,
} from './series.ts';

/** All datapoints outside chunks, and which of them should go there next. */
export interface Memtable {
  /** About what all of them take in memory. */
  readonly bytes: number;
  /** When the last datapoint of the log was received; undefined: it has none. */
  newestReceived(): number | undefined;
  /** The series that have any, but for those all of whose datapoints are on their way. */
  readonly live: LiveSeries;
  /** Adds a push that the log row `row` holds; its series is not looked for. */
  pack(push: LoggedPush, row: number): void;
  /** Gives a series that was made just now the pushes that were packed. */
  unpack(series: Series): void;
  /** The log row `row` made staged datapoints of the series durable: the first ones, these. */
  keep(series: Series, batch: ColumnBatch, row: number, weight: number): void;
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

type Begin = Pick<MemtableEntry, 'firstRow' | 'startedAt'>;

/** A sensor with as much as so many full ones takes long to put in order. */
const crowdedEntries = 4;

/** No memtable yet. `find` makes the series of a number. */
export function createMemtable(
  limits: DatapointLimits,
  by: { readonly find: (number: number) => Series | undefined; readonly damaged: DamagedRows },
): Memtable {
  const live = new LiveSeries();
  const full = new Set<Series>();
  const totals: Totals = {
    bytes: 0,
    logged: 0,
    lastRow: 0,
    newestReceived: undefined,
    isResting: false,
  };
  const filling = createFilling({ limits, live, full, totals, damaged: by.damaged });
  let frozenBytes = 0;

  /** The oldest series, made where it is packed; undefined: it was removed, and is dropped. */
  function makeOldest(number: number): Series | undefined {
    const series = by.find(number);
    const packed = live.packedOf(number);
    if (packed === undefined) return series;
    totals.bytes -= bytesOfPacked(packed, limits);
    live.delete(number);
    return undefined;
  }

  /** Bytes that the log keeps: the rest of an entry keeps all its rows, also those done. */
  function loggedBytes(): number {
    const first = live.oldest();
    return first === undefined ? 0 : totals.logged - first.head.startedAt;
  }

  function isTooMuch(): boolean {
    if (live.size === 0) return false;
    return (
      totals.isResting ||
      totals.bytes > limits.memtableBytesMax ||
      loggedBytes() > limits.logBytesMax
    );
  }

  function nextDue(): Series | undefined {
    for (const series of full) return series;
    while (isTooMuch()) {
      const first = live.oldest();
      const series = first && (first.series ?? makeOldest(first.number));
      if (series !== undefined && series.memtableEntry.count > 0) return series;
    }
    return undefined;
  }

  /** Takes datapoints of at most so many bytes, or one, from the head of the memtableEntry. */
  function freeze(series: Series, bytesMax: number): number {
    const entry = series.memtableEntry;
    const count = rowsWithin(entry.columns, entry.count, bytesMax);
    if (count === entry.columns.count) {
      series.frozen = entry;
      series.memtableEntry = emptyMemtableEntry();
    } else {
      [series.frozen, series.memtableEntry] = splitEntry(entry, count);
    }
    if (series.memtableEntry.count === 0) live.delete(series.number);
    series.sorted = undefined;
    if (series.memtableEntry.bytes < limits.memtableEntryBytesMax) full.delete(series);
    totals.bytes += series.memtableEntry.bytes - entry.bytes;
    frozenBytes += series.frozen.bytes;
    return series.frozen.bytes;
  }

  function thaw(series: Series): void {
    const { frozen, memtableEntry } = series;
    if (frozen === undefined) return;
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
    live.add(series);
    if (series.memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
    totals.bytes += series.memtableEntry.bytes - memtableEntry.bytes;
    frozenBytes -= frozen.bytes;
  }

  return {
    get bytes() {
      return totals.bytes + frozenBytes;
    },
    newestReceived: () => totals.newestReceived,
    live,
    ...filling,
    want(series) {
      if (series.memtableEntry.count > 0) full.add(series);
    },
    isDue: () => full.size > 0 || isTooMuch(),
    isUrgent: () =>
      2 * totals.bytes > limits.memtableBytesMax ||
      2 * loggedBytes() > limits.logBytesMax ||
      isCrowded(full, limits.memtableEntryBytesMax),
    rest() {
      const worthwhile = Math.max(limits.restBytesMin, limits.restEntryBytesMin * live.size);
      totals.isResting = Math.max(totals.bytes, loggedBytes()) >= worthwhile;
    },
    freezeDue() {
      const frozen: Series[] = [];
      let room = limits.flushBytesPerStep;
      while (room > 0 && frozen.length < limits.flushSeriesPerStep) {
        let series: Series | undefined;
        try {
          series = nextDue();
        } catch (error) {
          // A series cannot be read: what was frozen goes without it.
          if (frozen.length === 0) throw error;
        }
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
      totals.bytes -= series.memtableEntry.bytes;
      frozenBytes -= series.frozen?.bytes ?? 0;
      series.memtableEntry = emptyMemtableEntry();
      series.frozen = undefined;
      series.sequenceNumbers = undefined;
      live.delete(series.number);
      full.delete(series);
    },
    doneThrough() {
      const first = live.oldest();
      return first === undefined ? totals.lastRow : first.head.firstRow - 1;
    },
  };
}

/** Figures of all datapoints in the memtable, and of all that the log had. */
interface Totals {
  bytes: number;
  logged: number;
  lastRow: number;
  newestReceived: number | undefined;
  /** Nothing arrived for a while. */
  isResting: boolean;
}

/** Adds what arrives, and what the log holds. */
function createFilling(parts: {
  readonly limits: DatapointLimits;
  readonly live: LiveSeries;
  readonly full: Set<Series>;
  readonly totals: Totals;
  readonly damaged: DamagedRows;
}): Pick<Memtable, 'pack' | 'unpack' | 'keep'> {
  const { limits, live, full, totals, damaged } = parts;

  /** Counts rows that are in the columns already; answers how many bytes they take. */
  function grow(series: Series, batch: ColumnBatch, weight: number, begin: Begin): number {
    const { memtableEntry } = series;
    const added = bytesOfRows(batch) + (memtableEntry.count === 0 ? limits.memtableEntryBytes : 0);
    if (memtableEntry.count === 0) {
      Object.assign(memtableEntry, { ...begin, isSorted: true });
      live.add(series);
    }
    noteOrder(memtableEntry, batch);
    memtableEntry.count += batch.count;
    memtableEntry.weight += weight;
    memtableEntry.bytes += added;
    series.sorted = undefined;
    totals.bytes += added;
    if (memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
    return added;
  }

  function unpack(series: Series): void {
    const packed = live.packedOf(series.number);
    if (packed === undefined) return;
    totals.bytes -= bytesOfPacked(packed, limits);
    for (const { push, row, startedAt } of live.packedOf(series.number) ?? []) {
      const fresh = freshOf(series, push, damaged);
      if (fresh !== undefined)
        grow(series, fresh, weightOfBatch(fresh), { firstRow: row, startedAt });
    }
    if (series.memtableEntry.count === 0) live.delete(series.number);
  }

  return {
    unpack,
    pack(push, row) {
      const isFirst = live.pack({ push, row, startedAt: totals.logged });
      const added = bytesOfRows(push.batch) + (isFirst ? limits.memtableEntryBytes : 0);
      totals.newestReceived = newestReceipt(totals.newestReceived, push.batch);
      totals.bytes += added;
      totals.logged += added;
      totals.lastRow = row;
    },
    keep(series, batch, row, weight) {
      totals.isResting = false;
      totals.newestReceived = newestReceipt(totals.newestReceived, batch);
      totals.logged += grow(series, batch, weight, { firstRow: row, startedAt: totals.logged });
      totals.lastRow = row;
    },
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

/** The later one of a time of receipt and those of a batch. */
function newestReceipt(known: number | undefined, { count, received }: ColumnBatch) {
  let newest = known;
  for (let at = 0; at < count; at += 1) newest = Math.max(newest ?? 0, received[at] ?? 0);
  return newest;
}

/** Bytes that the packed pushes of a series count. */
function bytesOfPacked(packed: Iterable<PackedPush>, limits: DatapointLimits): number {
  let bytes = limits.memtableEntryBytes;
  for (const { push } of packed) bytes += bytesOfRows(push.batch);
  return bytes;
}

/** Adds to a series what a push of the log has beyond its chunks; undefined: nothing. */
function freshOf(series: Series, push: LoggedPush, damaged: DamagedRows): ColumnBatch | undefined {
  const missing = push.sequenceNumber - nextSequenceNumber(series);
  if (missing > 0) {
    // The missing datapoints were in an unreadable row: those that follow keep their numbers.
    series.flushed += missing;
    damaged.note('datapoint_log', `series ${series.number}`, `${missing} datapoints are missing`);
  }
  const { batch, last } = push;
  const known = Math.max(0, -missing);
  if (known >= batch.count) return undefined;
  const rest = sliceBatch(batch, known, batch.count);
  const firstNumber = nextSequenceNumber(series);
  appendRows(series.memtableEntry.columns, rest, 0, rest.count);
  for (let at = 0; at < rest.count; at += 1) {
    const time = rest.times[at] ?? 0;
    if (rest.timed[at] === 1 && time > series.newestTimestamp) series.newestTimestamp = time;
  }
  if (last !== undefined && last >= known) moveLast(series, firstNumber + last - known);
  // A last value that is in chunks already was written down when it went there; without any, it
  // was in a row that cannot be read, and the newest of those that are left takes its place.
  else if (!hasLast(series)) moveLast(series, firstNumber + (lastRowAmong(rest) ?? 0));
  return rest;
}

function newestOf({ columns, count }: MemtableEntry): number {
  return count === 0 ? Number.NEGATIVE_INFINITY : timeAt(columns, count - 1);
}
