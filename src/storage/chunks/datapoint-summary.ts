import { firstEndingFrom } from '../../domain/datapoints/corrections/touched.ts';
import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type {
  Page,
  SummarisedStep,
  SummariseOptions,
} from '../../domain/datapoints/datapoint-store.ts';
import { type HourlyRead, summariseWithHours } from '../../domain/datapoints/retention/hours.ts';
import type { Stretches, StretchRun, SummarisedPart } from '../../domain/datapoints/stretches.ts';
import type { BlockHead, ChunkHead } from './chunk.ts';
import { sliceColumns } from './column-pieces.ts';
import { type Columns, datapointAt, rowAfter, rowFrom } from './columns.ts';
import { createLaterQueue, type PageSource } from './datapoint-page.ts';
import type { ChunkSummary } from './summary.ts';

/** Stretches of one step: a few milliseconds of work. */
const stretchesPerStep = 8_192;
/** Datapoints decoded for each one that is handed over, where a few of each block are. */
const decodedPerRow = 4;

/** Reads one step of a summarised page, with hours where retention took datapoints. */
export function summariseStanding(
  source: PageSource,
  options: SummariseOptions,
  { state, hours }: Pick<HourlyRead, 'state' | 'hours'>,
): SummarisedStep {
  return summariseWithHours({
    ...{ page: source.page, state, hours },
    raw: (page, mayStand) =>
      summarisePage(
        { ...source, page },
        mayStand ? options : { ...options, mayStand: () => false },
      ),
  });
}

/**
 * Reads one step of a page, oldest first: where stretches may represent their datapoints, and all
 * of a stretch is in the page, nothing is decoded. It ends where it can be gone on from.
 */
function summarisePage(source: PageSource, options: SummariseOptions): SummarisedStep {
  const { chunks, series, page } = source;
  const walk = createWalk(source, options);
  for (const [chunk, following] of inPairs(chunks.heads(series, page, 'asc'))) {
    const nextTime = following?.minTime ?? Number.POSITIVE_INFINITY;
    if (walk.skipsChunk(chunk, nextTime)) continue;
    const summary = chunks.summary(chunk);
    const isOver =
      summary === undefined
        ? walk.takeBlocks(chunk, nextTime)
        : walk.takeStretches(chunk, summary, nextTime);
    if (isOver) return walk.step();
  }
  walk.takeLater(Number.POSITIVE_INFINITY);
  return walk.lastStep();
}

/** Each item with the one after it. */
function* inPairs<Item>(items: Iterable<Item>): Iterable<[Item, Item | undefined]> {
  let before: Item | undefined;
  for (const item of items) {
    if (before !== undefined) yield [before, item];
    before = item;
  }
  if (before !== undefined) yield [before, undefined];
}

function createWalk({ chunks, unflushed, page }: PageSource, options: SummariseOptions) {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = page;
  const { exclude = [] } = options;
  const later = createLaterQueue(unflushed, page);
  const output = createParts(page, options);
  const isWithin = (start: number, end: number): boolean => start >= from && end <= to;
  const isExcluded = (start: number, end: number): boolean =>
    exclude.length > 0 &&
    end >= (exclude[firstEndingFrom(exclude, start)]?.from ?? Number.POSITIVE_INFINITY);

  function takeLater(before: number): void {
    if (later.nextTime() < before) output.putColumns(later.takeBefore(before));
  }

  /** Rows of a block, and the datapoints that arrived after them and belong between them. */
  function takeRows(columns: Columns, firstRow: number, endRow: number): void {
    const start = Math.max(firstRow, rowFrom(columns.times, from));
    const end = Math.min(endRow, rowAfter(columns.times, to));
    for (let row = start; row < end; ) {
      takeLater(columns.times[row] ?? 0);
      const time = later.nextTime();
      const stop = Math.max(row + 1, Math.min(end, rowAfter(columns.times, time)));
      output.putColumns(sliceColumns(columns, row, stop));
      row = stop;
    }
  }

  function stands(stretches: Stretches, at: number, nextTime: number): boolean {
    const start = stretches.starts[at] ?? 0;
    const end = stretches.ends[at] ?? 0;
    // A step that goes on behind the stretch must not meet any of its datapoints again.
    if (start !== end && nextTime <= end) return false;
    return (
      isWithin(start, end) &&
      later.nextTime() > end &&
      output.takesWhole(stretches.counts[at] ?? 0) &&
      !isExcluded(start, end) &&
      options.mayStand(stretches, at, output.taken())
    );
  }

  return {
    takeLater,
    step: output.step,
    lastStep: output.lastStep,
    /** Whether all of a chunk comes before the page. */
    skipsChunk({ minTime, maxTime, count }: ChunkHead, nextTime: number): boolean {
      if (!isWithin(minTime, maxTime)) return false;
      if (later.nextTime() <= maxTime || nextTime <= maxTime) return false;
      return output.skipWhole(count);
    },
    takeBlocks(chunk: ChunkHead, nextTime: number): boolean {
      const blocks = [...chunks.blocks(chunk, 'asc')];
      for (const [index, head] of blocks.entries()) {
        if (head.block.maxTime < from || head.block.minTime > to) continue;
        takeRows(chunks.columns(head), 0, head.block.count);
        if (output.isOver(blocks[index + 1]?.block.minTime ?? nextTime)) return true;
      }
      return false;
    },
    takeStretches(chunk: ChunkHead, summary: ChunkSummary, nextTime: number): boolean {
      const { stretches, bounds, counts, minTimes, maxTimes } = summary;
      let heads: readonly BlockHead[] | undefined;
      for (let index = 0; index < counts.length; index += 1) {
        const after = minTimes[index + 1] ?? nextTime;
        if ((maxTimes[index] ?? 0) < from || (minTimes[index] ?? 0) > to) continue;
        const end = bounds[index + 1] ?? 0;
        let [row, isDecoded] = [0, false];
        for (let at = bounds[index] ?? 0; at < end; at += 1) {
          const endRow = row + (stretches.counts[at] ?? 0);
          const next = at + 1 < end ? (stretches.starts[at + 1] ?? 0) : after;
          takeLater(stretches.starts[at] ?? 0);
          if (stands(stretches, at, next)) {
            output.putStretch(stretches, at);
          } else {
            heads ??= [...chunks.blocks(chunk, 'asc')];
            const head = heads[index];
            if (head !== undefined) takeRows(chunks.columns(head), row, endRow);
            if (!isDecoded) output.noteDecoded(counts[index] ?? 0);
            isDecoded = true;
          }
          row = endRow;
          if (output.isOver(next)) return true;
        }
      }
      return false;
    },
  };
}

/** The parts of a step, and where it ends. */
function createParts(page: Page, options: SummariseOptions) {
  const parts: SummarisedPart[] = [];
  let { skip } = page;
  let run: { stretches: Stretches; from: number; to: number } | undefined;
  let [rows, decoded, stretchCount, characters, taken] = [0, 0, 0, 0, 0];
  // The last order time, and how many of it were skipped or taken; none: the next one is later.
  // Fields, as V8 makes a new object of each double that a variable of a closure is set to.
  const end = { limit: page.limit, time: Number.NEGATIVE_INFINITY, seen: 0 };

  function see(time: number, count: number, isClosed: boolean): void {
    end.seen = isClosed ? 0 : time === end.time ? end.seen + count : count;
    end.time = isClosed ? time + 1 : time;
  }

  return {
    putColumns(columns: Columns): void {
      const skipped = Math.min(skip, columns.count);
      const count = Math.min(end.limit, columns.count - skipped);
      skip -= skipped;
      end.limit -= count;
      const endRow = skipped + count;
      if (endRow === 0) return;
      const last = columns.times[endRow - 1] ?? 0;
      see(last, endRow - rowFrom(columns.times, last), false);
      if (count === 0) return;
      const slice = sliceColumns(columns, skipped, endRow);
      run = undefined;
      parts.push(toDatapointColumns(slice));
      rows += count;
      taken += count;
      for (const text of slice.texts ?? []) characters += text?.length ?? 0;
    },
    putStretch(stretches: Stretches, at: number): void {
      const count = stretches.counts[at] ?? 0;
      if (run?.stretches === stretches && run.to === at) {
        run.to += 1;
      } else {
        run = { stretches, from: at, to: at + 1 };
        parts.push(run satisfies StretchRun);
      }
      end.limit -= count;
      taken += count;
      stretchCount += 1;
      const last = stretches.ends[at] ?? 0;
      see(last, count, stretches.starts[at] !== last);
    },
    taken: (): number => taken,
    /** So many datapoints were decoded for those of a block that are handed over. */
    noteDecoded(count: number): void {
      decoded += count;
    },
    /** Whether so many can be skipped at once; then they are. */
    skipWhole(count: number): boolean {
      if (skip < count) return false;
      skip -= count;
      return true;
    },
    takesWhole: (count: number): boolean => skip === 0 && count <= end.limit,
    /** Whether the step ends here, before what comes at `next`. */
    isOver(next: number): boolean {
      if (end.limit === 0) return true;
      const isFull =
        rows >= options.rowsMax ||
        // A step that ends before it gave anything would never end.
        (taken > 0 && decoded >= decodedPerRow * options.rowsMax) ||
        stretchCount >= stretchesPerStep ||
        characters >= options.charactersMax;
      return isFull && skip === 0 && next >= end.time;
    },
    step(): SummarisedStep {
      if (end.limit === 0) return { parts };
      return { parts, next: { ...page, from: end.time, skip: end.seen, limit: end.limit } };
    },
    lastStep: (): SummarisedStep => ({ parts }),
  };
}

/** Columns of a chunk as reads hand them over. */
export function toDatapointColumns(columns: Columns): DatapointColumns {
  const { count, times, texts } = columns;
  const numbers =
    texts === undefined
      ? columns.numbers
      : columns.numbers.map((number, at) => (texts[at] === undefined ? number : Number.NaN));
  return { count, times, numbers, at: (row) => datapointAt(columns, row) };
}
