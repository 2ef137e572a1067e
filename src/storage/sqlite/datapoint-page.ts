import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import type { Page, Range } from '../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../lib/clock.ts';
import type { ChunkHead } from './chunk-head.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { type Columns, datapointAt, rowAfter, rowFrom } from './columns.ts';

/**
 * One page of a series: its chunks merged with `unsealed`, which is in order of time and arrived
 * after everything in chunks. Chunks that the page skips are not decoded.
 */
export function readPage(
  chunks: ChunkReader,
  series: number,
  unsealed: readonly Datapoint[],
  page: Page,
): Datapoint[] {
  const later = createLaterQueue(unsealed, page);
  const output = createOutput(page);
  if (output.isFull()) return [];
  for (const head of chunks.heads(series, page, page.order)) {
    const part = partOf(chunks, head, page);
    if (part.count === 0) continue;
    const ahead = later.countUpTo(part.edge);
    if (output.skipWhole(part.count + ahead)) {
      later.skip(ahead);
      continue;
    }
    const columns = chunks.columns(head);
    for (let step = 0; step < part.count && !output.isFull(); step += 1) {
      const row = page.order === 'asc' ? part.firstRow + step : part.firstRow - step;
      const time = columns.times[row] ?? 0;
      while (later.isBefore(time)) output.put(later.next());
      if (!output.skipOne()) output.put(datapointAt(columns, row));
    }
    if (output.isFull()) return output.datapoints;
  }
  while (!later.isEmpty() && !output.isFull()) output.put(later.next());
  return output.datapoints;
}

/** How many datapoints that are in order of time the range has. */
export function countInRange(datapoints: readonly Datapoint[], range: Range): number {
  const [start, end] = sliceOf(datapoints, range);
  return end - start;
}

/** The rows of a chunk that are in the range. */
interface Part {
  readonly count: number;
  /** The row that comes first in the order of the page. */
  readonly firstRow: number;
  /** The order time of the one that comes last. */
  readonly edge: Instant;
}

function partOf(chunks: ChunkReader, head: ChunkHead, page: Page): Part {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, order } = page;
  const isWhole = head.minTime >= from && head.maxTime <= to;
  const columns: Columns | undefined = isWhole ? undefined : chunks.columns(head);
  const start = columns === undefined ? 0 : rowFrom(columns.times, from);
  const end = columns === undefined ? head.count : rowAfter(columns.times, to);
  const count = Math.max(0, end - start);
  if (order === 'asc') {
    return { count, firstRow: start, edge: columns?.times[end - 1] ?? head.maxTime };
  }
  return { count, firstRow: end - 1, edge: columns?.times[start] ?? head.minTime };
}

/** The datapoints outside chunks that are in the range, in the order of the page. */
function createLaterQueue(unsealed: readonly Datapoint[], page: Page) {
  const [start, end] = sliceOf(unsealed, page);
  const isAscending = page.order === 'asc';
  let taken = 0;

  function at(position: number): Datapoint | undefined {
    if (position >= end - start) return undefined;
    return unsealed[isAscending ? start + position : end - 1 - position];
  }
  // At the same time, what is in chunks arrived first: it goes first, or last in reverse.
  function precedes(datapoint: Datapoint, time: Instant): boolean {
    return isAscending ? orderTime(datapoint) < time : orderTime(datapoint) >= time;
  }
  return {
    isEmpty: () => taken >= end - start,
    isBefore(time: Instant): boolean {
      const first = at(taken);
      return first !== undefined && precedes(first, time);
    },
    next(): Datapoint | undefined {
      taken += 1;
      return at(taken - 1);
    },
    skip(count: number): void {
      taken += count;
    },
    /** How many come before a datapoint in chunks that has this order time. */
    countUpTo(time: Instant): number {
      let position = taken;
      for (let next = at(position); next !== undefined && precedes(next, time); ) {
        position += 1;
        next = at(position);
      }
      return position - taken;
    },
  };
}

function createOutput(page: Page) {
  const datapoints: Datapoint[] = [];
  let { skip } = page;
  return {
    datapoints,
    isFull: () => datapoints.length >= page.limit,
    /** Skips `count` at once if all of them are to be skipped. */
    skipWhole(count: number): boolean {
      if (skip < count) return false;
      skip -= count;
      return true;
    },
    skipOne(): boolean {
      if (skip === 0) return false;
      skip -= 1;
      return true;
    },
    put(datapoint: Datapoint | undefined): void {
      if (datapoint === undefined || datapoints.length >= page.limit) return;
      if (skip > 0) skip -= 1;
      else datapoints.push(datapoint);
    },
  };
}

function sliceOf(datapoints: readonly Datapoint[], range: Range): [start: number, end: number] {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  const start = firstWhere(datapoints, (time) => time >= from);
  const end = firstWhere(datapoints, (time) => time > to);
  return [start, Math.max(start, end)];
}

/** The first position whose order time passes a test that all later ones pass too. */
function firstWhere(datapoints: readonly Datapoint[], passes: (time: Instant) => boolean): number {
  let low = 0;
  let high = datapoints.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const datapoint = datapoints[middle];
    if (datapoint !== undefined && passes(orderTime(datapoint))) high = middle;
    else low = middle + 1;
  }
  return low;
}
