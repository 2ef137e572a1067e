import type { DatabaseSync } from 'node:sqlite';
import type { ChunkLimits } from '../../chunks/chunk-store.ts';

/** A chunk as the index lists it. */
export interface ChunkListing {
  readonly series: number;
  readonly id: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
}

/** A chunk that may be renewed. */
export interface ListedChunk extends ChunkListing {
  readonly bytes: number;
  /** A summary is due, and there is none. */
  readonly lacksSummary: boolean;
  /** The end of its series, which is not full: flushes write it anew, and nothing joins it. */
  readonly isOpenEnd: boolean;
}

/** Which chunks are to be renewed, together with which others. */
export interface RenewalList {
  /** How many chunks there are; yields now and then. */
  count(): Generator<void, number>;
  /** Neighbours of one series that are worth it, walked through as they are then. */
  groups(onLooked: () => void): Generator<readonly ListedChunk[] | 'pause', void>;
  /** Whether these should be written anew as fewer. */
  isWorthIt(chunks: readonly ListedChunk[]): boolean;
}

const rowsPerStep = 64;
const countedPerStep = 4_096;
/** Rows of a commit; each of them is found and deleted. */
const rowsPerGroupMax = 128;
/** Full rows are written anew only where each of these goes with a row that is saved. */
const bytesPerSavedRowMax = 16_384;

const after = '(series, min_time, max_time, id) > (:series, :minTime, :maxTime, :id)';
const listChunks = `
  select series, id, min_time, max_time, count from chunks indexed by chunks_by_time
  where ${after} order by series, min_time, max_time, id limit ${rowsPerStep}`;
const countChunks = `
  select count(*), max(id) from (
    select id from chunks where id > ? order by id limit ${countedPerStep})`;
const readFacts = `
  select octet_length(datapoints),
    exists (select 1 from chunk_summaries where chunk = chunks.id)
  from chunks where id = ?`;

type ListRow = readonly [series: number, id: number, minTime: number, maxTime: number, n: number];

/** The chunks of this database, in the order of their series and times. */
export function createRenewalList(database: DatabaseSync, limits: ChunkLimits): RenewalList {
  const list = database.prepare(listChunks);
  const counted = database.prepare(countChunks);
  const facts = database.prepare(readFacts);
  for (const statement of [list, counted, facts]) statement.setReturnArrays(true);

  /** Undefined: it is gone. */
  function described(listing: ChunkListing, isLast: boolean): ListedChunk | undefined {
    const { id, count } = listing;
    const found = facts.get(id) as unknown as readonly [number, number] | undefined;
    if (found === undefined) return undefined;
    const [bytes, hasSummary] = found;
    const lacksSummary = hasSummary === 0 && count >= limits.summaryDatapointsMin;
    const isOpenEnd = isLast && count < limits.chunkDatapointsMax;
    return { ...listing, bytes, lacksSummary, isOpenEnd };
  }

  function fits(group: readonly ListedChunk[], next: ListedChunk): boolean {
    let [count, bytes] = [next.count, next.bytes];
    for (const chunk of group) {
      count += chunk.count;
      bytes += chunk.bytes;
    }
    return (
      group[0]?.series === next.series &&
      !next.isOpenEnd &&
      group.length < rowsPerGroupMax &&
      count <= limits.chunkBlocksMax * limits.chunkDatapointsMax &&
      bytes <= limits.chunkRowBytesMax
    );
  }

  function isWorthIt(chunks: readonly ListedChunk[]): boolean {
    if (chunks.some(({ lacksSummary }) => lacksSummary)) return true;
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
    return chunks.length > 1 && bytes <= (chunks.length - 1) * bytesPerSavedRowMax;
  }

  function* listed(): Generator<{ listing: ChunkListing; isLast: boolean } | 'pause'> {
    let from = { series: -1, minTime: 0, maxTime: 0, id: 0 };
    for (;;) {
      const rows = (list.all(from) as unknown as ListRow[]).map(toListing);
      // The last one waits for the one after it.
      const isEnd = rows.length < rowsPerStep;
      for (const [at, listing] of (isEnd ? rows : rows.slice(0, -1)).entries()) {
        const { series, minTime, maxTime, id } = listing;
        from = { series, minTime, maxTime, id };
        yield { listing, isLast: rows[at + 1]?.series !== series };
      }
      if (isEnd) return;
      yield 'pause';
    }
  }

  return {
    *count() {
      let [total, last] = [0, Number.MIN_SAFE_INTEGER];
      for (;;) {
        const [n, id] = counted.get(last) as unknown as readonly [number, number | null];
        total += n;
        if (n < countedPerStep || id === null) return total;
        last = id;
        yield;
      }
    },
    *groups(onLooked) {
      let group: ListedChunk[] = [];
      for (const item of listed()) {
        if (item === 'pause') {
          yield 'pause';
          continue;
        }
        onLooked();
        const chunk = described(item.listing, item.isLast);
        if (chunk !== undefined && fits(group, chunk)) {
          group.push(chunk);
          continue;
        }
        if (isWorthIt(group)) yield group;
        group = chunk === undefined ? [] : [chunk];
      }
      if (isWorthIt(group)) yield group;
    },
    isWorthIt,
  };
}

const toListing = ([series, id, minTime, maxTime, count]: ListRow): ChunkListing => ({
  ...{ series, id, minTime, maxTime, count },
});
