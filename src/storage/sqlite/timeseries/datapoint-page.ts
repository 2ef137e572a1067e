import { type Datapoint, orderTime } from '../../../domain/datapoints/datapoint.ts';
import type {
  Page,
  PagePart,
  Range,
  ScannedPart,
} from '../../../domain/datapoints/datapoint-store.ts';
import type { Instant } from '../../../lib/clock.ts';
import type { BlockHead, ChunkHead } from '../../chunks/chunk-head.ts';
import { type Columns, datapointAt, rowAfter, rowFrom } from '../../chunks/columns.ts';
import { createColumnsBuilder } from '../../chunks/columns-builder.ts';
import type { ChunkReader } from './chunk-reader.ts';

/** Where a page is read from. */
export interface PageSource {
  readonly chunks: ChunkReader;
  readonly series: number;
  /** In order of time; they arrived after everything in chunks. */
  readonly unflushed: readonly Datapoint[];
  readonly page: Page;
}

/** One page of a series, its chunks merged with the rest. Chunks it skips are not decoded. */
export function readPage(source: PageSource): readonly Datapoint[] {
  return readPart(source, Number.POSITIVE_INFINITY).datapoints;
}

/** The same up to the value that makes the texts of all `charactersMax` or more. */
export function readPart(source: PageSource, charactersMax: number): PagePart {
  const datapoints: Datapoint[] = [];
  let characters = 0;
  const put = (datapoint: Datapoint): void => {
    datapoints.push(datapoint);
    const { value } = datapoint;
    if (typeof value === 'number') return;
    characters += typeof value === 'string' ? value.length : JSON.stringify(value).length;
  };
  const target: Target = {
    put,
    putRows(columns, firstRow, count) {
      const step = source.page.order === 'asc' ? 1 : -1;
      for (let n = 0; n < count; n += 1) {
        const row = firstRow + n * step;
        if (columns.texts === undefined) datapoints.push(datapointAt(columns, row));
        else if (characters < charactersMax) put(datapointAt(columns, row));
      }
    },
    isFull: () => characters >= charactersMax,
  };
  walkPage(target, source);
  return { datapoints, isCut: characters >= charactersMax };
}

/** The same page column by column: nothing is made of a datapoint but its numbers. */
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

/** Where the datapoints of a page go. */
interface Target {
  put(datapoint: Datapoint): void;
  /** `count` rows in the order of the page, beginning with `firstRow`, until it is full. */
  putRows(columns: Columns, firstRow: number, count: number): void;
  /** It takes no more, whatever the page says. */
  isFull(): boolean;
}

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
    if (ahead === 0) {
      output.putRows(columns, part.firstRow, part.count);
      if (output.isFull()) return;
      continue;
    }
    for (let step = 0; step < part.count && !output.isFull(); step += 1) {
      const row = page.order === 'asc' ? part.firstRow + step : part.firstRow - step;
      const time = columns.times[row] ?? 0;
      while (later.isBefore(time)) output.put(later.next());
      output.putRows(columns, row, 1);
    }
    if (output.isFull()) return;
  }
  while (!later.isEmpty() && !output.isFull()) output.put(later.next());
}

/** The blocks that touch the page, in its order, but for those of chunks that are skipped whole. */
function* blocksToRead(options: {
  readonly chunks: ChunkReader;
  readonly series: number;
  readonly page: Page;
  readonly later: ReturnType<typeof createLaterQueue>;
  readonly output: ReturnType<typeof createOutput>;
}): Iterable<BlockHead> {
  const { chunks, series, page, later, output } = options;
  const { from, to, order } = withEnds(page);
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

const withEnds = ({ from, to, order }: Page) => ({
  order,
  from: from ?? Number.NEGATIVE_INFINITY,
  to: to ?? Number.POSITIVE_INFINITY,
});

const isWithin = (
  { minTime, maxTime }: Pick<ChunkHead, 'minTime' | 'maxTime'>,
  from: Instant,
  to: Instant,
): boolean => minTime >= from && maxTime <= to;

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

function partOf(chunks: ChunkReader, head: BlockHead, page: Page): Part {
  const { from, to, order } = withEnds(page);
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
function createLaterQueue(unflushed: readonly Datapoint[], page: Page) {
  const [start, end] = sliceOf(unflushed, page);
  const isAscending = page.order === 'asc';
  let taken = 0;

  function at(position: number): Datapoint | undefined {
    if (position >= end - start) return undefined;
    return unflushed[isAscending ? start + position : end - 1 - position];
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
    put(datapoint: Datapoint | undefined): void {
      if (datapoint === undefined) return;
      const [, taken] = advance(1);
      if (taken === 1) target.put(datapoint);
    },
    putRows(columns: Columns, firstRow: number, count: number): void {
      const [skipped, taken] = advance(count);
      const start = page.order === 'asc' ? firstRow + skipped : firstRow - skipped;
      if (taken > 0) target.putRows(columns, start, taken);
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
