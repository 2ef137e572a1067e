import { type ColumnBatch, weightOfBatch } from '../../../domain/datapoints/column-batch.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import {
  appendRows,
  bytesOfRows,
  emptyMemtableEntry,
  enter,
  joinHead,
  type MemtableEntry,
  partHead,
} from './memtable-columns.ts';
import { addPush, joinPush, lastOfPacked, type PackedSeries, pushesOf } from './packed-series.ts';
import { type Series, settleLast } from './series.ts';

/** All datapoints outside chunks, and which of them should go there next. */
export type Memtable = ReturnType<typeof createMemtable>;

/** A sensor with as much as so many full ones takes long to put in order. */
const crowdedEntries = 4;

/** An empty memtable; `make` brings a series to memory, with what is packed of it. */
export function createMemtable(
  limits: DatapointLimits,
  make: (number: number) => Series | undefined = () => undefined,
) {
  const { memtableBytesMax, logBytesMax } = limits;
  const live = createLiveSeries(limits);
  const { packed, newestPacked, newerLast, unpack, weights } = live;
  const full = new Set<Series>();
  let [frozenBytes, logged, lastRow] = [0, 0, 0];
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
    live.bytes += added;
    logged += added;
    lastRow = row;
    if (memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
  }

  /** Bytes that the log keeps: the rest of an entry keeps all its rows, also those done. */
  const loggedBytes = (): number => logged - (live.first()?.startedAt ?? logged);

  const isTooMuch = (): boolean =>
    live.size > 0 && (isResting || live.bytes > memtableBytesMax || loggedBytes() > logBytesMax);

  /** Undefined also where one go finds removed ones alone. */
  function nextDue(): Series | undefined {
    for (const series of full) return series;
    return isTooMuch() ? live.oldest(make) : undefined;
  }

  function freeze(series: Series, bytesMax: number): number {
    const { bytes } = series.memtableEntry;
    const [frozen, rest] = partHead(series.memtableEntry, bytesMax);
    series.frozen = frozen;
    series.memtableEntry = rest;
    series.sorted = undefined;
    if (series.memtableEntry.count === 0) live.remove(series.number);
    live.frozen.add(series);
    if (series.memtableEntry.bytes < limits.memtableEntryBytesMax) full.delete(series);
    live.bytes += series.memtableEntry.bytes - bytes;
    frozenBytes += frozen.bytes;
    return frozen.bytes;
  }

  function thaw(series: Series): void {
    const { frozen, memtableEntry } = series;
    if (frozen === undefined) return;
    series.memtableEntry = joinHead(frozen, memtableEntry);
    series.frozen = undefined;
    series.sorted = undefined;
    live.frozen.delete(series);
    live.put(series);
    if (series.memtableEntry.bytes >= limits.memtableEntryBytesMax) full.add(series);
    live.bytes += series.memtableEntry.bytes - memtableEntry.bytes;
    frozenBytes -= frozen.bytes;
  }

  return {
    /** About what all of them take in memory. */
    get bytes() {
      return live.bytes + frozenBytes;
    },
    /** Adds datapoints that the log row `row` made durable. */
    add(series: Series, batch: ColumnBatch, row: number): void {
      appendRows(series.memtableEntry.columns, batch, 0, batch.count);
      keep(series, batch, row, weightOfBatch(batch));
    },
    /** The log row `row` made staged datapoints of the series durable: the first ones, these. */
    keep,
    /** Keeps what a replayed row brings as bytes; false: it is too much of its series for that. */
    pack(push: LoggedPush, row: number): boolean {
      const bytes = live.pack(push, row, logged);
      if (bytes === undefined) return false;
      logged += bytes;
      lastRow = row;
      return true;
    },
    ...{ packed, newestPacked, newerLast, unpack, weights },
    /** Counts datapoints that a replayed row holds although they are in chunks. */
    passOver(batch: ColumnBatch, row: number): void {
      logged += bytesOfRows(batch);
      lastRow = row;
    },
    /** All of the series is due, however little it is. */
    want(series: Series): void {
      if (series.memtableEntry.count > 0) full.add(series);
    },
    /** Whether freezeDue would find something. */
    isDue: () => full.size > 0 || isTooMuch(),
    /** Whether what is due must not wait: half of the capacity is taken, or much is of a sensor. */
    isUrgent(): boolean {
      if (2 * live.bytes > memtableBytesMax || 2 * loggedBytes() > logBytesMax) return true;
      return isCrowded(full, limits.memtableEntryBytesMax);
    },
    /** Nothing arrived for a while: all is due until something does, if it is worth the work. */
    rest(): void {
      const worthwhile = Math.max(limits.restBytesMin, limits.restEntryBytesMin * live.size);
      isResting = Math.max(live.bytes, loggedBytes()) >= worthwhile;
    },
    /** Freezes what is to be flushed next: full entries, else the oldest of too many. */
    freezeDue(): readonly Series[] {
      const frozen: Series[] = [];
      let room = limits.flushBytesPerStep;
      while (room > 0 && frozen.length < limits.flushSeriesPerStep) {
        try {
          const series = nextDue();
          // A memtableEntry longer than one step comes again in the next.
          if (series === undefined || series.frozen !== undefined) break;
          room -= freeze(series, room);
          frozen.push(series);
        } catch (error) {
          // The frozen ones go to their places; the next step fails.
          if (frozen.length === 0) throw error;
          break;
        }
      }
      return frozen;
    },
    /** The frozen datapoints of the series are in chunks. */
    settle(series: Series): void {
      if (series.frozen === undefined) return;
      frozenBytes -= series.frozen.bytes;
      live.frozen.delete(series);
      settleFrozen(series, series.frozen);
    },
    /** The flush failed: frozen rows go back to the head of their entry, series to their places. */
    restore(picked: readonly Series[]): void {
      for (const series of picked) thaw(series);
      live.sort();
    },
    drop(series: Series): void {
      live.bytes -= series.memtableEntry.bytes;
      frozenBytes -= series.frozen?.bytes ?? 0;
      series.memtableEntry = emptyMemtableEntry();
      series.frozen = undefined;
      series.sequenceNumbers = undefined;
      live.remove(series.number);
      live.frozen.delete(series);
      full.delete(series);
    },
    /** Every datapoint of log rows up to this one is in chunks, or frozen. */
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

/** Removed series that are passed over at once where the oldest one is looked for. */
const removedMax = 64;

/** Series with datapoints neither in chunks nor frozen, in the order of their first log rows. */
function createLiveSeries(limits: DatapointLimits) {
  let all = new Map<number, Series | PackedSeries>();
  /** The series with frozen datapoints, with others or alone. */
  const frozen = new Set<Series>();
  let receivedPacked = Number.NEGATIVE_INFINITY;

  /** The packed part of the log of a series; undefined: none, or its series is in memory. */
  function packed(number: number): PackedSeries | undefined {
    const one = all.get(number);
    return one !== undefined && isPacked(one) ? one : undefined;
  }

  const live = {
    get size() {
      return all.size;
    },
    /** Bytes that all of them take. */
    bytes: 0,
    frozen,
    packed,
    /** Adds a series at the end, or in the place of what was packed of it. */
    put(series: Series): void {
      all.set(series.number, series);
    },
    remove(number: number): void {
      all.delete(number);
    },
    /** Adds what a log row brings; answers its bytes, or undefined when it is too much to pack. */
    pack(push: LoggedPush, row: number, logged: number): number | undefined {
      const { series, batch } = push;
      const known = packed(series);
      const one = known ?? { firstRow: row, startedAt: logged, weight: 0, bytes: 0, pushes: '' };
      const added = bytesOfRows(batch) + (known === undefined ? limits.memtableEntryBytes : 0);
      const now = one.bytes + added;
      // A full entry has to go to chunks: its series is made.
      if (now > limits.packedBytesMax || now >= limits.memtableEntryBytesMax) return undefined;
      addPush(one, push);
      one.weight += weightOfBatch(batch);
      one.bytes = now;
      all.set(series, one);
      live.bytes += added;
      for (const received of batch.received) receivedPacked = Math.max(receivedPacked, received);
      return added;
    },
    newerLast(number: number, inRow: Series['last']): Series['last'] {
      const one = packed(number);
      return one === undefined ? inRow : lastOfPacked(one, inRow);
    },
    unpack(series: Series): void {
      const one = packed(series.number);
      if (one === undefined) return;
      // Memory for the series comes first: without it, the series stays packed.
      fillEntry(series, one, limits.memtableEntryBytes);
      live.bytes += series.memtableEntry.bytes - one.bytes;
      if (series.memtableEntry.count > 0) all.set(series.number, series);
      else all.delete(series.number);
    },
    /** What the series of the first row has, which may be packed. */
    first(): MemtableEntry | PackedSeries | undefined {
      for (const one of all.values()) return unflushed(one);
      return undefined;
    },
    /**
     * The series of the first row, made where it is packed. Drops removed ones before it, so many
     * at once: undefined also where there are no others among these.
     */
    oldest(make: (number: number) => Series | undefined): Series | undefined {
      let removed = 0;
      for (const [number, one] of all) {
        const series = isPacked(one) ? make(number) : one;
        if (series !== undefined || removed === removedMax) return series;
        all.delete(number);
        live.bytes -= unflushed(one).bytes;
        removed += 1;
      }
      return undefined;
    },
    /** Weights outside chunks by series, as quotas count them; of what is frozen apart. */
    *weights(): Iterable<readonly [series: number, weight: number]> {
      for (const [number, one] of all) yield [number, unflushed(one).weight];
      for (const one of frozen) yield [one.number, one.frozen?.weight ?? 0];
    },
    /** Brings series that came back to their places. */
    sort(): void {
      const rowOf = ([, one]: [number, Series | PackedSeries]) => unflushed(one).firstRow;
      all = new Map([...all].sort((a, b) => rowOf(a) - rowOf(b)));
    },
    /** When the last packed datapoint was received, of those up to `atMost`; undefined: none. */
    newestPacked(atMost: Instant): Instant | undefined {
      if (receivedPacked <= atMost) return receivedPacked;
      let newest: Instant | undefined;
      for (const one of all.values()) {
        for (const { batch } of isPacked(one) ? pushesOf(one) : []) {
          for (const received of batch.received) {
            if (received <= atMost && received > (newest ?? 0)) newest = received;
          }
        }
      }
      return newest;
    },
  };
  return live;
}

const isPacked = (one: Series | PackedSeries): one is PackedSeries => 'pushes' in one;

const unflushed = (one: Series | PackedSeries): MemtableEntry | PackedSeries =>
  isPacked(one) ? one : one.memtableEntry;

/** Adds what is packed to a series; entryBytes: what a series takes beside its datapoints. */
function fillEntry(series: Series, packed: PackedSeries, entryBytes: number): void {
  const { memtableEntry } = series;
  Object.assign(memtableEntry, { firstRow: packed.firstRow, startedAt: packed.startedAt });
  for (const push of pushesOf(packed)) {
    joinPush(series, push, (batch) => {
      const bytes = bytesOfRows(batch) + (memtableEntry.count === 0 ? entryBytes : 0);
      appendRows(memtableEntry.columns, batch, 0, batch.count);
      enter(memtableEntry, batch, weightOfBatch(batch), bytes);
    });
  }
}
