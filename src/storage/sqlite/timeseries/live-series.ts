import { weightOfBatch } from '../../../domain/datapoints/column-batch.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { bytesOfRows } from './memtable-columns.ts';
import { addPush, type PackedSeries, pushesOf } from './packed-series.ts';
import type { MemtableEntry, Series } from './series.ts';

/** Removed series that are passed over at once where the oldest one is looked for. */
const removedMax = 64;

/** Series with datapoints neither in chunks nor frozen, in the order of their first log rows. */
export function createLiveSeries(limits: DatapointLimits) {
  let all = new Map<number, Series | PackedSeries>();
  let receivedPacked = Number.NEGATIVE_INFINITY;

  function packed(number: number): PackedSeries | undefined {
    const one = all.get(number);
    return one !== undefined && isPacked(one) ? one : undefined;
  }

  return {
    get size() {
      return all.size;
    },
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
      const bytes = bytesOfRows(batch) + (known === undefined ? limits.memtableEntryBytes : 0);
      if (one.bytes + bytes > limits.packedBytesMax) return undefined;
      addPush(one, push);
      one.weight += weightOfBatch(batch);
      one.bytes += bytes;
      all.set(series, one);
      for (const received of batch.received) receivedPacked = Math.max(receivedPacked, received);
      return bytes;
    },
    /** What the series of the first row has, which may be packed. */
    first(): MemtableEntry | PackedSeries | undefined {
      for (const one of all.values()) return unflushed(one);
      return undefined;
    },
    /**
     * The series of the first row, made where it is packed. Drops removed ones before it, so many
     * at once, and tells the bytes of each.
     */
    oldest(
      make: (number: number) => Series | undefined,
      dropped: (bytes: number) => void,
    ): Series | undefined {
      let removed = 0;
      for (const [number, one] of all) {
        const series = isPacked(one) ? make(number) : one;
        if (series !== undefined || removed === removedMax) return series;
        all.delete(number);
        dropped(unflushed(one).bytes);
        removed += 1;
      }
      return undefined;
    },
    *weights(): Iterable<readonly [series: number, weight: number]> {
      for (const [number, one] of all) yield [number, unflushed(one).weight];
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
}

const isPacked = (one: Series | PackedSeries): one is PackedSeries => 'pushes' in one;

const unflushed = (one: Series | PackedSeries): MemtableEntry | PackedSeries =>
  isPacked(one) ? one : one.memtableEntry;
