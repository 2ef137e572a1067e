import type { Instant } from '../../lib/clock.ts';
import type { BlockHead } from './chunk-head.ts';
import { type Columns, rowAfter, rowFrom, valueTextAt } from './columns.ts';

/** Answers which values a series has in chunks at one timestamp after the other. */
export interface ChunkLookup {
  /** JSON texts of the values with exactly this timestamp. */
  valuesAt(timestamp: Instant): ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/**
 * A look-up that remembers where it was: ascending timestamps cost one search in a chunk each.
 * Where one timestamp fills more than `crowdedChunksMax` chunks, as with a clock that stands still,
 * it looks into the last of them only: a push must not cost more with every one before it.
 */
export function createChunkLookup(
  headsFrom: (timestamp: Instant) => Iterable<BlockHead>,
  columnsOf: (head: BlockHead) => Columns,
  crowdedChunksMax: number,
): ChunkLookup {
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
    for (const head of headsFrom(timestamp)) {
      const { minTime, maxTime } = head.block;
      if (minTime > timestamp) {
        before = minTime;
        break;
      }
      if (maxTime < timestamp) continue;
      touching.push(head);
      after = minTime;
      before = maxTime;
      if (maxTime > timestamp) break;
    }
    // In a gap nothing is known about what lies before the timestamp itself.
    if (touching.length === 0) after = timestamp;
    const looked = touching.slice(-crowdedChunksMax).map(columnsOf);
    columns = looked.at(-1);
    return collect(looked, timestamp);
  }

  return {
    valuesAt(timestamp) {
      if (timestamp !== timestampBefore) {
        values = find(timestamp);
        timestampBefore = timestamp;
      }
      return values;
    },
  };
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
