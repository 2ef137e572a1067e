import type { Page, Range, ScannedPart } from '../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../lib/clock.ts';
import type { BlockHead } from './chunk.ts';
import { type ChunkSource, endsOf, isWithin } from './chunk-source.ts';
import { sliceColumns } from './column-pieces.ts';
import { type Columns, datapointAt, rowAfter, rowFrom } from './columns.ts';
import { createColumnsBuilder } from './columns-builder.ts';

/** Where a page is read from. */
export interface PageSource {
  readonly chunks: ChunkSource;
  readonly series: number;
  /** Datapoints that arrived after everything in chunks. */
  readonly unflushed: Columns;
  readonly page: Page;
}

/**
 * Reads a page of a series column by column, its chunks merged with the rest, up to the value that
 * makes the texts of all `charactersMax` or more. Skipped chunks are not decoded.
 */
export function scanPart(source: PageSource, charactersMax: number): ScannedPart {
  const { page } = source;
  const builder = createColumnsBuilder({ ...page, rowsMax: page.limit, charactersMax });
  walkPage(builder, source);
  const columns = builder.finish();
  return {
    columns: { ...columns, at: (row) => datapointAt(columns, row) },
    isCut: builder.isFull(),
  };
}

type Target = ReturnType<typeof createColumnsBuilder>;

function walkPage(target: Target, { chunks, series, unflushed, page }: PageSource): void {
  const later = createLaterQueue(unflushed, page);
  const output = createOutput(page, target);
  if (output.isFull()) return;
  for (const head of blocksToRead({ chunks, series, page, later, output })) {
    const part = partOf(chunks, head, page);
    if (part.count === 0) continue;
    const ahead = later.countUpTo(part.edge);
    if (output.skipWhole(part.count + ahead)) {
      later.skip(ahead);
      continue;
    }
    const columns = chunks.columns(head);
    for (let step = 0; step < part.count && !output.isFull(); ) {
      const row = page.order === 'asc' ? part.firstRow + step : part.firstRow - step;
      later.putBefore(columns.times[row] ?? 0, output);
      const run = later.countBehind(columns.times, row, part.count - step);
      output.putRows(columns, row, run);
      step += run;
    }
    if (output.isFull()) return;
  }
  later.putAll(output);
}

/** The blocks that touch the page, in its order, but for those of chunks that are skipped whole. */
function* blocksToRead(options: {
  readonly chunks: ChunkSource;
  readonly series: number;
  readonly page: Page;
  readonly later: ReturnType<typeof createLaterQueue>;
  readonly output: ReturnType<typeof createOutput>;
}): Iterable<BlockHead> {
  const { chunks, series, page, later, output } = options;
  const { order } = page;
  const { from, to } = endsOf(page);
  for (const chunk of chunks.heads(series, page, order)) {
    if (isWithin(chunk, from, to)) {
      const ahead = later.countUpTo(order === 'asc' ? chunk.maxTime : chunk.minTime);
      if (output.skipWhole(chunk.count + ahead)) {
        later.skip(ahead);
        continue;
      }
    }
    for (const head of chunks.blocks(chunk, order)) {
      if (head.block.maxTime >= from && head.block.minTime <= to) yield head;
    }
  }
}

/** How many datapoints that are in order of time the range has. */
export function countInRange(columns: Columns, range: Range): number {
  const [start, end] = sliceOf(columns, range);
  return end - start;
}

/**
 * The rows of a chunk that are in the range: the one that comes first in the order of the page, and
 * the order time of the one that comes last.
 */
function partOf(chunks: ChunkSource, head: BlockHead, page: Page) {
  const { order } = page;
  const { from, to } = endsOf(page);
  const { block } = head;
  const columns = isWithin(block, from, to) ? undefined : chunks.columns(head);
  const start = columns === undefined ? 0 : rowFrom(columns.times, from);
  const end = columns === undefined ? block.count : rowAfter(columns.times, to);
  const count = Math.max(0, end - start);
  if (order === 'asc') {
    return { count, firstRow: start, edge: columns?.times[end - 1] ?? block.maxTime };
  }
  return { count, firstRow: end - 1, edge: columns?.times[start] ?? block.minTime };
}

/** The datapoints outside chunks that are in the range, in the order of the page. */
export function createLaterQueue(unflushed: Columns, page: Page) {
  const [start, end] = sliceOf(unflushed, page);
  const isAscending = page.order === 'asc';
  const { times } = unflushed;
  let left = end - start;

  /** The row that is next. */
  const next = (): number => (isAscending ? end - left : start + left - 1);

  /** How many come before a datapoint in chunks that has this order time. */
  function countUpTo(time: Instant): number {
    // At the same time, what is in chunks arrived first: it goes first, or last in reverse.
    const border = rowFrom(times, time);
    const count = isAscending ? border - next() : next() - border + 1;
    return Math.max(0, Math.min(left, count));
  }

  function put(count: number, output: Output): void {
    if (count > 0) output.putRows(unflushed, next(), count);
    left -= count;
  }

  return {
    countUpTo,
    skip(count: number): void {
      left -= count;
    },
    /** Puts those that come before a datapoint in chunks that has this order time. */
    putBefore(time: Instant, output: Output): void {
      if (left > 0) put(countUpTo(time), output);
    },
    putAll(output: Output): void {
      put(left, output);
    },
    /** How many rows of a chunk come before the next of these: of `count` from `row`, not none. */
    countBehind(chunkTimes: Float64Array, row: number, count: number): number {
      if (left === 0) return count;
      const border = rowAfter(chunkTimes, times[next()] ?? 0);
      return Math.max(1, Math.min(count, isAscending ? border - row : row - border + 1));
    },
    /** The order time of the next one; Infinity: there is none. */
    nextTime: (): Instant => (left === 0 ? Number.POSITIVE_INFINITY : (times[next()] ?? 0)),
    /** Of ascending ones, takes those that have an earlier order time. */
    takeBefore(time: Instant): Columns {
      const first = next();
      const count = countUpTo(time);
      left -= count;
      return sliceColumns(unflushed, first, first + count);
    },
  };
}

type Output = ReturnType<typeof createOutput>;

function createOutput(page: Page, target: Target) {
  let { skip, limit: room } = page;

  /** Skips or takes the next `count`; answers how many were skipped and are taken. */
  function advance(count: number): [skipped: number, taken: number] {
    const skipped = Math.min(skip, count);
    const taken = Math.min(room, count - skipped);
    skip -= skipped;
    room -= taken;
    return [skipped, taken];
  }
  return {
    isFull: () => room <= 0 || target.isFull(),
    /** Skips `count` at once if all of them are to be skipped. */
    skipWhole(count: number): boolean {
      if (skip < count) return false;
      skip -= count;
      return true;
    },
    putRows(columns: Columns, firstRow: number, count: number): void {
      const [skipped, taken] = advance(count);
      const start = page.order === 'asc' ? firstRow + skipped : firstRow - skipped;
      if (taken > 0 && !target.isFull()) target.putRows(columns, start, taken);
    },
  };
}

function sliceOf({ times }: Columns, range: Range): [start: number, end: number] {
  const { from, to } = endsOf(range);
  const start = rowFrom(times, from);
  return [start, Math.max(start, rowAfter(times, to))];
}
