import type { Instant } from '../../lib/clock.ts';
import type { BlockHead, ChunkHead } from './chunk.ts';
import { type Columns, rowAfter, rowFrom, valueTextAt } from './columns.ts';

/** Between these two timestamps, both excluded, a series has nothing in chunks. */
export interface Gap {
  readonly after: Instant;
  readonly before: Instant;
}

/** The chunks of one series, for a lookup. What cannot be read has nothing in it. */
export interface LookupSource {
  /** Chunks that end at a timestamp or later, in order of time. */
  chunksFrom(timestamp: Instant): Iterable<ChunkHead>;
  /** The chunk's blocks in order of time. */
  blocksOf(chunk: ChunkHead): readonly BlockHead[];
  columnsOf(head: BlockHead): Columns;
}

const none: ReadonlySet<string> = new Set();

/**
 * A lookup of values that a series has in chunks, which remembers where it was: ascending
 * timestamps cost one search in a chunk each, and in a gap between chunks none is read.
 * Where one timestamp fills more than `crowdedChunksMax` chunks, as with a clock that stands still,
 * it reads the last of them only: a push must not cost more with every one before it.
 */
export function createChunkLookup(source: LookupSource, crowdedChunksMax: number) {
  // Between these two, both excluded, there is nothing but `columns`.
  let after = Number.POSITIVE_INFINITY;
  let before = Number.NEGATIVE_INFINITY;
  let columns: Columns | undefined;
  let timestampBefore: Instant | undefined;
  let values = none;

  function find(timestamp: Instant): ReadonlySet<string> {
    if (timestamp > after && timestamp < before) {
      return columns === undefined ? none : collect([columns], timestamp);
    }
    const touching: BlockHead[] = [];
    after = Number.NEGATIVE_INFINITY;
    before = Number.POSITIVE_INFINITY;
    columns = undefined;
    for (const head of headsFrom(source, timestamp, crowdedChunksMax)) {
      if (typeof head === 'number') {
        before = head;
        break;
      }
      const { minTime, maxTime } = head.block;
      if (maxTime < timestamp) continue;
      touching.push(head);
      after = minTime;
      before = maxTime;
      if (maxTime > timestamp) break;
    }
    // In a gap nothing is known about what lies before the timestamp itself.
    if (touching.length === 0) after = timestamp;
    const looked = touching.slice(-crowdedChunksMax).map((head) => source.columnsOf(head));
    columns = looked.at(-1);
    return collect(looked, timestamp);
  }

  return {
    /** The gap that the last timestamp is in, as far as was read; undefined: it is in none. */
    gap(): Gap | undefined {
      if (timestampBefore === undefined || values.size > 0) return undefined;
      if (columns === undefined) return { after, before };
      const next = columns.times[rowAfter(columns.times, timestampBefore)];
      return { after: timestampBefore, before: next ?? before };
    },
    /** JSON texts of the values with exactly this timestamp. */
    valuesAt(timestamp: Instant): ReadonlySet<string> {
      if (timestamp !== timestampBefore) {
        values = find(timestamp);
        timestampBefore = timestamp;
      }
      return values;
    },
  };
}

/**
 * Blocks from a timestamp on, and where the first chunk or block begins that is later: it is not
 * read. Of the chunks that hold the timestamp alone only the last ones.
 */
function* headsFrom(
  source: LookupSource,
  timestamp: Instant,
  crowdedChunksMax: number,
): Generator<BlockHead | Instant, void> {
  const crowd: ChunkHead[] = [];
  for (const chunk of source.chunksFrom(timestamp)) {
    if (chunk.minTime === timestamp && chunk.maxTime === timestamp) {
      crowd.push(chunk);
      if (crowd.length > crowdedChunksMax) crowd.shift();
      continue;
    }
    for (const held of crowd.splice(0)) yield* source.blocksOf(held);
    if (chunk.minTime > timestamp) {
      yield chunk.minTime;
      return;
    }
    for (const head of source.blocksOf(chunk)) {
      if (head.block.minTime > timestamp) {
        yield head.block.minTime;
        return;
      }
      yield head;
    }
  }
  for (const held of crowd) yield* source.blocksOf(held);
}

function collect(chunks: readonly Columns[], timestamp: Instant): ReadonlySet<string> {
  let values: Set<string> | undefined;
  for (const columns of chunks) {
    const end = rowAfter(columns.times, timestamp);
    for (let row = rowFrom(columns.times, timestamp); row < end; row += 1) {
      if (columns.timed[row] !== 1) continue;
      values ??= new Set();
      values.add(valueTextAt(columns, row));
    }
  }
  return values ?? none;
}
