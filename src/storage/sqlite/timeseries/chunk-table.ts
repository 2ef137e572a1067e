import type { DatabaseSync } from 'node:sqlite';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import { type Block, blocksOf, encodeChunk } from '../../chunks/chunk.ts';
import { type ChunkLimits, cutIntoChunks, placeInBlocks } from '../../chunks/chunk-placing.ts';
import { summaryOfBlocks, withSummaries } from '../../chunks/chunk-summary.ts';
import { idBeforeOthers, type Taken, takeFromChunk } from '../../chunks/chunk-taking.ts';
import { sliceColumns } from '../../chunks/column-pieces.ts';
import { type Columns, rowFrom } from '../../chunks/columns.ts';

const columns = 'id, min_time, max_time, count, octet_length(datapoints)';
const findChunkFrom = `
  select ${columns} from chunks where series = ? and min_time <= ?
  order by min_time desc, max_time desc, id desc limit 1`;
const findChunkBefore = `
  select ${columns} from chunks
  where series = ? and (min_time, max_time, id) < (?, ?, ?)
  order by min_time desc, max_time desc, id desc limit 1`;
const findFirst = `
  select ${columns} from chunks where series = ? order by min_time, max_time, id limit 1`;
const findFollowing = `
  select min_time, max_time from chunks
  where series = ? and (min_time, max_time, id) > (?, ?, ?)
  order by min_time, max_time, id limit 1`;
const findNextTime = `
  select min_time from chunks where series = ? and min_time > ?
  order by min_time, max_time, id limit 1`;
const readChunk = 'select datapoints from chunks where id = ?';
const insertChunk = `
  insert into chunks (id, series, min_time, max_time, count, datapoints) values (?, ?, ?, ?, ?, ?)`;
const readSummary = 'select summary from chunk_summaries where chunk = ?';
const insertSummary = 'insert into chunk_summaries (chunk, summary) values (?, ?)';
const deleteChunk = 'delete from chunks where id = ?';
const keepDamaged = `
  insert into damaged_chunks (id, series, min_time, max_time, count, datapoints)
  select id, series, min_time, max_time, count, datapoints from chunks where id = ?`;

/** The facts about a chunk that are known without reading it. */
interface ChunkRow {
  readonly id: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
  readonly bytes: number;
}

/** The chunks of a database, as the writer thread changes them. */
export interface ChunkTable {
  /**
   * Puts datapoints that are in order of time into the chunks of a series; at the same time those
   * in chunks go first. Answers how many chunks could not be read and were set aside.
   */
  place(series: number, datapoints: Columns, limits: ChunkLimits): number;
  /**
   * Takes what is earlier than `before` out of the oldest chunk of a series, of so many days at
   * most; undefined: there is nothing earlier that can be taken.
   */
  takeBefore(series: number, before: number, days: number, limits: ChunkLimits): Taken | undefined;
}

/**
 * The chunks of this database. A series ends in a chunk of one block that is not full: whenever it
 * is, it joins the chunk before it, so that a few datapoints never rewrite many.
 */
export function createChunkTable(database: DatabaseSync): ChunkTable {
  const find = database.prepare(findChunkFrom);
  const findBefore = database.prepare(findChunkBefore);
  const findNext = database.prepare(findNextTime);
  const findOldest = database.prepare(findFirst);
  const findAfter = database.prepare(findFollowing);
  const rows = createChunkRows(database);
  for (const statement of [find, findBefore, findNext, findOldest, findAfter]) {
    statement.setReturnArrays(true);
  }

  /** The last chunk that begins at this time or before it. */
  const chunkFrom = (series: number, time: number) => toRow(find.get(series, time));
  /** The chunk in front of another one. */
  const chunkBefore = (series: number, { id, minTime, maxTime }: ChunkRow) =>
    toRow(findBefore.get(series, minTime, maxTime, id));

  /** When the first chunk after this time begins. */
  function nextTime(series: number, time: number): number {
    const row = findNext.get(series, time) as unknown as [number] | undefined;
    return row?.[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Puts one run of datapoints into the chunk, or the gap after it, where their time belongs. */
  function placeRun(
    series: number,
    run: Columns,
    before: ChunkRow | undefined,
    limits: ChunkLimits,
  ) {
    const isInside = before !== undefined && before.maxTime > (run.times[0] ?? 0);
    const isJoined = before !== undefined && (isInside || joins(before, run.count, limits));
    const old = isJoined ? rows.take(before.id) : untouched;
    const placed = placeInBlocks(old.blocks, run, limits);
    let { blocks } = placed;
    let damaged = old.isDamaged ? 1 : 0;
    if (placed.damaged > 0) damaged += 1;
    if (isJoined && placed.damaged === 0 && !old.isDamaged) rows.remove(before.id);
    else if (isJoined) rows.setAside(before.id);
    if (isJoined && !isInside) {
      const front = chunkBefore(series, before);
      if (front !== undefined && takesIn(front, blocks, limits)) {
        const { blocks: inFront, isDamaged } = rows.take(front.id);
        // A damaged chunk stays where it is: nothing needs it here.
        if (!isDamaged) {
          rows.remove(front.id);
          blocks = [...inFront, ...blocks];
        }
      }
    }
    for (const chunk of cutIntoChunks(blocks, limits, isInside ? 'even' : 'fill')) {
      rows.insert(series, chunk, limits.summaryDatapointsMin);
    }
    return damaged;
  }

  return {
    place(series, datapoints, limits) {
      let damaged = 0;
      for (let from = 0; from < datapoints.count; ) {
        const time = datapoints.times[from] ?? 0;
        const before = chunkFrom(series, time);
        const isInside = before !== undefined && before.maxTime > time;
        const end = isInside ? before.maxTime : nextTime(series, time);
        const to = Math.max(from + 1, rowFrom(datapoints.times, end));
        damaged += placeRun(series, sliceColumns(datapoints, from, to), before, limits);
        from = to;
      }
      return damaged;
    },
    takeBefore(series, before, days, limits) {
      const oldest = toRow(findOldest.get(series));
      if (oldest === undefined || oldest.minTime >= before) return undefined;
      const { id, minTime, maxTime } = oldest;
      const next = findAfter.get(series, minTime, maxTime, id) as unknown as
        | [number, number]
        | undefined;
      const following = next && { minTime: next[0], maxTime: next[1] };
      const taken = takeFromChunk({ oldest, following, ...rows.take(id) }, before, days);
      if (taken.damaged === 0) rows.remove(id);
      else rows.setAside(id);
      const restId = taken.restNeedsLowId ? idBeforeOthers(id) : null;
      if (taken.rest.length > 0) {
        rows.insert(series, taken.rest, limits.summaryDatapointsMin, restId);
      }
      return taken;
    },
  };
}

const untouched = { blocks: [], isDamaged: false };

/** Whether datapoints that follow a chunk join it: it is small, or they are worth rewriting it. */
function joins(before: ChunkRow, count: number, limits: ChunkLimits): boolean {
  if (before.count < limits.chunkDatapointsMax) return true;
  const room = limits.chunkBlocksMax * limits.chunkDatapointsMax;
  const isWorthIt = count * 4 >= limits.chunkDatapointsMax;
  return isWorthIt && before.count + count <= room && before.bytes * 2 <= limits.chunkRowBytesMax;
}

/** Whether a chunk takes in the blocks of the one after it: once they are full. */
function takesIn(front: ChunkRow, blocks: readonly Block[], limits: ChunkLimits): boolean {
  let [count, bytes] = [0, 0];
  for (const block of blocks) {
    count += block.count;
    bytes += block.bytes.length;
  }
  return (
    count >= limits.chunkDatapointsMax &&
    front.count + count <= limits.chunkBlocksMax * limits.chunkDatapointsMax &&
    front.bytes + bytes <= limits.chunkRowBytesMax
  );
}

/** Single chunks, by their ids. */
export function createChunkRows(database: DatabaseSync) {
  const read = database.prepare(readChunk);
  const insert = database.prepare(insertChunk);
  const remove = database.prepare(deleteChunk);
  const keep = database.prepare(keepDamaged);
  const summaryOf = database.prepare(readSummary);
  const insertOne = database.prepare(insertSummary);
  for (const statement of [read, summaryOf]) statement.setReturnArrays(true);

  return {
    isThere: (id: number): boolean => read.get(id) !== undefined,
    take(id: number): { readonly blocks: readonly Block[]; readonly isDamaged: boolean } {
      const [bytes] = read.get(id) as unknown as [Uint8Array];
      try {
        const [summary] = (summaryOf.get(id) ?? []) as unknown as [Uint8Array?];
        return { blocks: withSummaries(blocksOf(bytes, `${id}`), summary), isDamaged: false };
      } catch (error) {
        if (!(error instanceof DamagedBytesError)) throw error;
        return { blocks: [], isDamaged: true };
      }
    },
    remove(id: number): void {
      remove.run(id);
    },
    /** A thread cannot log; the report says it, and the service goes on without what is damaged. */
    setAside(id: number): void {
      keep.run(id);
      remove.run(id);
    },
    /**
     * Answers the bytes of its datapoints. Shorter chunks go without a summary: they are rewritten
     * soon, and read as quickly.
     */
    insert(
      series: number,
      blocks: readonly Block[],
      summaryDatapointsMin: number,
      id: number | null = null,
    ): number {
      const minTime = blocks[0]?.minTime ?? 0;
      const maxTime = blocks.at(-1)?.maxTime ?? 0;
      const count = blocks.reduce((sum, block) => sum + block.count, 0);
      const bytes = encodeChunk(blocks);
      const added = insert.run(id, series, minTime, maxTime, count, bytes);
      const summary = count < summaryDatapointsMin ? undefined : summaryOfBlocks(blocks);
      if (summary !== undefined) insertOne.run(added.lastInsertRowid, summary);
      return bytes.length;
    },
  };
}

function toRow(found: unknown): ChunkRow | undefined {
  if (found === undefined) return undefined;
  const [id, minTime, maxTime, count, bytes] = found as [number, number, number, number, number];
  return { id, minTime, maxTime, count, bytes };
}
