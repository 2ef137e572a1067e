import type { DatabaseSync } from 'node:sqlite';
import { joinSmallBlocks, withSummary } from '../../chunks/block-renewal.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import type { Block } from '../../chunks/chunk.ts';
import { cutIntoChunks } from '../../chunks/chunk-placing.ts';
import { type ChunkLimits, chunkOf, takenFrom } from '../../chunks/chunk-store.ts';
import { createSelection, withoutWaiting } from '../connection.ts';
import { createChunkRows } from './chunk-table.ts';

/** A chunk as the index lists it. */
interface ChunkListing {
  readonly series: number;
  readonly id: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
}

/** A chunk that may be renewed. */
interface ListedChunk extends ChunkListing {
  readonly bytes: number;
  /** A summary is due, and there is none. */
  readonly lacksSummary: boolean;
  /** The end of its series, which is not full: flushes write it anew, and nothing joins it. */
  readonly isOpenEnd: boolean;
}

/** Figures of renewal since the start of the process, and how far its walk is. */
export interface RenewalFigures {
  /** Chunks that were replaced, and those in their place. */
  replaced: number;
  made: number;
  bytesBefore: number;
  bytesAfter: number;
  /** Of this walk: chunks to check, and those that cannot be read and stay as they are. */
  left: number;
  unreadable: number;
}

/** Chunks that follow each other, and become fewer. */
interface Run {
  readonly chunks: ListedChunk[];
  readonly blocks: (readonly Block[])[];
}

const rowsPerStep = 64;
const countedPerStep = 4_096;
/** Rows of a commit; each of them is found and deleted. */
const rowsPerGroupMax = 128;
/** Full rows are written anew only where each of these goes with a row that is saved. */
const bytesPerSavedRowMax = 16_384;
const after = '(series, min_time, max_time, id) > (?, ?, ?, ?)';
const listChunks = `
  select series, id, min_time as "minTime", max_time as "maxTime", count
  from chunks indexed by chunks_by_time
  where ${after} order by series, min_time, max_time, id limit ${rowsPerStep}`;
const countChunks = `
  select count(*) as n, max(id) as last from (
    select id from chunks where id > ? order by id limit ${countedPerStep})`;
const readFacts = `
  select octet_length(datapoints) as bytes,
    exists (select 1 from chunk_summaries where chunk = chunks.id) as "hasSummary"
  from chunks where id = ?`;

const selectRange = `
  select id from chunks
  where series = :series and (min_time, max_time, id) >= (:firstMin, :firstMax, :firstId)
    and (min_time, max_time, id) <= (:lastMin, :lastMax, :lastId)
  order by min_time, max_time, id`;
const findTwin = `
  select 1 from chunks
  where series = :series and min_time = :time and max_time = :time
    and (min_time, max_time, id) > (:lastMin, :lastMax, :lastId)
  limit 1`;
const updateChunk = 'update chunks set datapoints = ? where id = ?';
const putSummary = 'insert or replace into chunk_summaries (chunk, summary) values (?, ?)';

/**
 * Renews the chunks of this database, on the connection of the writer. `commit` does the work of
 * one replacement in a transaction, by default in one of its own.
 */
export function createChunkRenewal(
  database: DatabaseSync,
  limits: ChunkLimits,
  commit = (work: () => boolean): boolean => inTransaction(database, work),
) {
  const list = createRenewalList(database, limits);
  const rows = createChunkRows(database);
  const range = database.prepare(selectRange);
  const twin = database.prepare(findTwin);
  const update = database.prepare(updateChunk);
  const summarise = database.prepare(putSummary);
  const unsummarise = database.prepare('delete from chunk_summaries where chunk = ?');
  const figures: RenewalFigures = {
    ...{ replaced: 0, made: 0, bytesBefore: 0, bytesAfter: 0, left: 0, unreadable: 0 },
  };

  function* renewed(chunk: ListedChunk): Generator<void, readonly Block[] | 'gone' | 'unreadable'> {
    const bytes = rows.read(chunk.id);
    if (bytes === undefined) return 'gone';
    const { blocks, isDamaged } = takenFrom(bytes, chunk.id);
    yield;
    try {
      if (isDamaged) throw new DamagedBytesError('it cannot be read');
      const all: Block[] = [];
      for (const block of blocks) {
        all.push(withSummary(block, `${chunk.id}`));
        yield;
      }
      requireSameEnds(chunk, all);
      return all;
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      return 'unreadable';
    }
  }

  /** Answers whether all of it is as it should be now. */
  function* renewGroup(group: readonly ListedChunk[]): Generator<void, boolean> {
    let isDone = true;
    let run: Run = { chunks: [], blocks: [] };
    for (const chunk of group) {
      const blocks = yield* renewed(chunk);
      if (blocks === 'gone' || blocks === 'unreadable') {
        // The write that replaced it may have left its neighbours as they were.
        if (blocks === 'gone') isDone = false;
        else figures.unreadable += 1;
        isDone = (yield* replace(run)) && isDone;
        run = { chunks: [], blocks: [] };
      } else {
        run.chunks.push(chunk);
        run.blocks.push(blocks);
      }
    }
    return (yield* replace(run)) && isDone;
  }

  function* replace({ chunks, blocks }: Run): Generator<void, boolean> {
    if (!list.isWorthIt(chunks)) return true;
    const joined = yield* joinSmallBlocks(blocks.flat(), limits);
    const cut = cutIntoChunks(joined, limits, 'fill');
    if (cut.length >= chunks.length && !chunks.some((chunk) => chunk.lacksSummary)) return true;
    yield;
    const isReplaced = commit(() => {
      if (!isUnchanged(chunks)) return false;
      if (changesPlaces(chunks, cut)) replaceInPlace(chunks, blocks);
      else replaceAll(chunks, cut);
      return true;
    });
    yield;
    return isReplaced;
  }

  /** Whether these, and no others, are still there: an id is never used again. */
  function isUnchanged(chunks: readonly ListedChunk[]): boolean {
    const [first, last] = [chunks[0], chunks.at(-1)];
    if (first === undefined || last === undefined) return false;
    const now = range.all({
      ...{ series: first.series, firstMin: first.minTime, firstMax: first.maxTime },
      ...{ firstId: first.id, lastMin: last.minTime, lastMax: last.maxTime, lastId: last.id },
    });
    return now.length === chunks.length && now.every(({ id }, at) => id === chunks[at]?.id);
  }

  /** Whether a chunk of one time alone would come behind one of the same time that follows it. */
  function changesPlaces(
    chunks: readonly ListedChunk[],
    cut: readonly (readonly Block[])[],
  ): boolean {
    const [last, old] = [cut.at(-1), chunks.at(-1)];
    const [minTime = 0, maxTime = 0] = [last?.[0]?.minTime, last?.at(-1)?.maxTime];
    if (old === undefined || minTime !== maxTime) return false;
    const behind = { lastMin: old.minTime, lastMax: old.maxTime, lastId: old.id };
    return twin.get({ series: old.series, time: minTime, ...behind }) !== undefined;
  }

  function replaceAll(chunks: readonly ListedChunk[], cut: readonly (readonly Block[])[]): void {
    for (const piece of cut) {
      const chunk = chunkOf(piece, limits);
      rows.insert(chunks[0]?.series ?? 0, chunk);
      figures.bytesAfter += chunk.points.length;
    }
    for (const { id, bytes } of chunks) {
      // A copy that is compacted has no keys that would take it along.
      unsummarise.run(id);
      rows.remove(id);
      figures.bytesBefore += bytes;
    }
    figures.replaced += chunks.length;
    figures.made += cut.length;
  }

  /** With the same ids: what was read of them stays true. */
  function replaceInPlace(
    chunks: readonly ListedChunk[],
    blocks: readonly (readonly Block[])[],
  ): void {
    for (const [at, { id, bytes, lacksSummary }] of chunks.entries()) {
      const own = blocks[at];
      if (!lacksSummary || own === undefined) continue;
      const { points, summary } = chunkOf(own, limits);
      update.run(points, id);
      if (summary !== undefined) summarise.run(id, summary);
      figures.bytesBefore += bytes;
      figures.bytesAfter += points.length;
      figures.replaced += 1;
      figures.made += 1;
    }
  }

  return {
    /** Figures since the start of the process, and how far the walk is. */
    figures: figures as Readonly<RenewalFigures>,
    /**
     * Walks through all chunks, and renews what has no summary where one is due, or fills its row
     * badly. Yields after each piece of work of a few milliseconds, with no transaction open:
     * others may change anything meanwhile, or drop the walk. Answers whether nothing is left.
     */
    *walk(): Generator<void, boolean> {
      figures.unreadable = 0;
      figures.left = yield* list.count();
      let isDone = true;
      const onLooked = (): void => {
        figures.left = Math.max(0, figures.left - 1);
      };
      for (const group of list.groups(onLooked)) {
        if (group === 'pause') yield;
        else isDone = (yield* renewGroup(group)) && isDone;
      }
      figures.left = 0;
      return isDone;
    },
  };
}

/** The chunks of this database, in the order of their series and times. */
function createRenewalList(database: DatabaseSync, limits: ChunkLimits) {
  const list = createSelection<ChunkListing>(database, listChunks);
  const counted = createSelection<{ n: number; last: number | null }>(database, countChunks);
  const facts = createSelection<{ bytes: number; hasSummary: number }>(database, readFacts);

  /** Undefined: it is gone. */
  function described(listing: ChunkListing, isLast: boolean): ListedChunk | undefined {
    const { id, count } = listing;
    const found = facts.first(id);
    if (found === undefined) return undefined;
    const { bytes, hasSummary } = found;
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

  /** Whether these should be written anew as fewer. */
  function isWorthIt(chunks: readonly ListedChunk[]): boolean {
    if (chunks.some(({ lacksSummary }) => lacksSummary)) return true;
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
    return chunks.length > 1 && bytes <= (chunks.length - 1) * bytesPerSavedRowMax;
  }

  function* listed(): Generator<{ listing: ChunkListing; isLast: boolean } | 'pause'> {
    let from = [-1, 0, 0, 0];
    for (;;) {
      const rows = list.all(...from);
      // The last one waits for the one after it.
      const isEnd = rows.length < rowsPerStep;
      for (const [at, listing] of (isEnd ? rows : rows.slice(0, -1)).entries()) {
        const { series, minTime, maxTime, id } = listing;
        from = [series, minTime, maxTime, id];
        yield { listing, isLast: rows[at + 1]?.series !== series };
      }
      if (isEnd) return;
      yield 'pause';
    }
  }

  return {
    /** How many chunks there are; yields now and then. */
    *count(): Generator<void, number> {
      let [total, last] = [0, Number.MIN_SAFE_INTEGER];
      for (;;) {
        const { n = 0, last: id = null } = counted.first(last) ?? {};
        total += n;
        if (n < countedPerStep || id === null) return total;
        last = id;
        yield;
      }
    },
    /** Neighbours of one series that are worth it, walked through as they are then. */
    *groups(onLooked: () => void): Generator<readonly ListedChunk[] | 'pause', void> {
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

/** Runs work that acknowledges no write: the next commit syncs it. */
function inTransaction(database: DatabaseSync, work: () => boolean): boolean {
  return withoutWaiting(database, 'synced later', () => {
    database.exec('begin immediate');
    try {
      const isDone = work();
      database.exec('commit');
      return isDone;
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
  });
}

/** Throws DamagedBytesError where a chunk is not as the index lists it. */
function requireSameEnds(chunk: ChunkListing, blocks: readonly Block[]): void {
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const isSame =
    count === chunk.count &&
    blocks[0]?.minTime === chunk.minTime &&
    blocks.at(-1)?.maxTime === chunk.maxTime;
  if (!isSame) throw new DamagedBytesError(`chunk ${chunk.id} is not what its row says`);
}
