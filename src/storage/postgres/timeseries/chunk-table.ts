import { DamagedBytesError } from '../../chunks/bytes.ts';
import { type Block, blocksOf, encodeChunk } from '../../chunks/chunk.ts';
import { type ChunkLimits, cutIntoChunks, placeInBlocks } from '../../chunks/chunk-placing.ts';
import { summaryOfBlocks, withSummaries } from '../../chunks/chunk-summary.ts';
import { idBeforeOthers, type Taken, takeFromChunk } from '../../chunks/chunk-taking.ts';
import { sliceColumns } from '../../chunks/column-pieces.ts';
import { type Columns, rowFrom } from '../../chunks/columns.ts';
import type { WriteSession } from '../writer.ts';
import type { SeriesKey } from './series-key.ts';

/** The chunks of a sensor inside a commit. */
export interface SeriesChunks {
  readonly session: WriteSession;
  readonly key: SeriesKey;
  readonly limits: ChunkLimits;
}

/** The columns of a chunk that are known without reading its points. */
interface ChunkRow {
  readonly id: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
  readonly bytes: number;
}

const columns = `
  id, min_time as "minTime", max_time as "maxTime", count, octet_length(points) as bytes`;
const isOf = 'bucket = $1 and series = $2';
const findChunkFrom = `
  select ${columns} from chunks where ${isOf} and min_time <= $3
  order by min_time desc, max_time desc, id desc limit 1`;
const findChunkBefore = `
  select ${columns} from chunks where ${isOf} and (min_time, max_time, id) < ($3, $4, $5)
  order by min_time desc, max_time desc, id desc limit 1`;
const findOldest = `
  select ${columns} from chunks where ${isOf} order by min_time, max_time, id limit 2`;
const findNextTime = `
  select min_time as time from chunks where ${isOf} and min_time > $3
  order by min_time, max_time, id limit 1`;
const isOne = `${isOf} and min_time = $3 and max_time = $4 and id = $5`;
const readChunk = `select points, summary from chunks where ${isOne}`;
const deleteChunk = `delete from chunks where ${isOne}`;
const keepDamaged = `
  insert into damaged_points (bucket, series, kind, id, min_time, max_time, count, points)
  values ($1, $2, 'chunk', $5, $3, $4, $6, $7)`;
const insertChunk = `
  insert into chunks (bucket, series, min_time, max_time, count, points, summary)
  values ($1, $2, $3, $4, $5, $6, $7)`;
const insertRest = `
  insert into chunks (bucket, series, min_time, max_time, count, points, summary, id)
  overriding system value values ($1, $2, $3, $4, $5, $6, $7, $8)`;

/**
 * Puts datapoints that are in order of time into the chunks of a series; at the same time those in
 * chunks go first. A series ends in a chunk of one block that is not full: whenever it is, it joins
 * the chunk before it. Answers how many chunks could not be read and were set aside.
 */
export async function placeInChunks(chunks: SeriesChunks, datapoints: Columns): Promise<number> {
  const { session, key } = chunks;
  const { bucket, series } = key;
  let damaged = 0;
  for (let from = 0; from < datapoints.count; ) {
    const time = datapoints.times[from] ?? 0;
    const [before, next] = await Promise.all([
      session.first<ChunkRow>(findChunkFrom, bucket, series, time),
      session.first<{ time: number }>(findNextTime, bucket, series, time),
    ]);
    const isInside = before !== undefined && before.maxTime > time;
    const end = isInside ? before.maxTime : (next?.time ?? Number.POSITIVE_INFINITY);
    const to = Math.max(from + 1, rowFrom(datapoints.times, end));
    const run = sliceColumns(datapoints, from, to);
    damaged += await placeRun(chunks, run, before);
    from = to;
  }
  return damaged;
}

/**
 * Takes what is earlier than `before` out of the oldest chunk of a series, of so many days at most;
 * undefined: there is nothing earlier that can be taken.
 */
export async function takeBefore(
  chunks: SeriesChunks,
  { before, days }: { readonly before: number; readonly days: number },
): Promise<Taken | undefined> {
  const { session, key } = chunks;
  const found = await session.all<ChunkRow>(findOldest, key.bucket, key.series);
  const [oldest, following] = found;
  if (oldest === undefined || oldest.minTime >= before) return undefined;
  const old = await take(chunks, oldest);
  const taken = takeFromChunk({ oldest, following, ...old }, before, days);
  remove(chunks, oldest, taken.damaged > 0 ? old.points : undefined);
  const restId = taken.restNeedsLowId ? idBeforeOthers(oldest.id) : undefined;
  if (taken.rest.length > 0) insert(chunks, taken.rest, restId);
  return taken;
}

/** Puts one run of datapoints into the chunk, or the gap after it, where their time belongs. */
async function placeRun(
  chunks: SeriesChunks,
  run: Columns,
  before: ChunkRow | undefined,
): Promise<number> {
  const { limits } = chunks;
  const isInside = before !== undefined && before.maxTime > (run.times[0] ?? 0);
  const isJoined = before !== undefined && (isInside || joins(before, run.count, limits));
  const old = isJoined ? await take(chunks, before) : untouched;
  const placed = placeInBlocks(old.blocks, run, limits);
  let { blocks } = placed;
  let damaged = old.isDamaged ? 1 : 0;
  if (placed.damaged > 0) damaged += 1;
  if (isJoined) remove(chunks, before, damaged > 0 ? old.points : undefined);
  if (isJoined && !isInside) {
    blocks = [...(await blocksInFront(chunks, before, blocks)), ...blocks];
  }
  for (const chunk of cutIntoChunks(blocks, limits, isInside ? 'even' : 'fill')) {
    insert(chunks, chunk);
  }
  return damaged;
}

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

const untouched: TakenChunk = { blocks: [], isDamaged: false, points: new Uint8Array() };

/** The blocks of the chunk before this one, which is removed, if it takes in those that follow. */
async function blocksInFront(
  chunks: SeriesChunks,
  { minTime, maxTime, id }: ChunkRow,
  blocks: readonly Block[],
): Promise<readonly Block[]> {
  const { session, key, limits } = chunks;
  const at = [minTime, maxTime, id] as const;
  const front = await session.first<ChunkRow>(findChunkBefore, key.bucket, key.series, ...at);
  if (front === undefined || !takesIn(front, blocks, limits)) return [];
  const { blocks: inFront, isDamaged } = await take(chunks, front);
  // A damaged chunk stays where it is: it is not needed here.
  if (isDamaged) return [];
  remove(chunks, front, undefined);
  return inFront;
}

const placeOf = ({ bucket, series }: SeriesKey, { minTime, maxTime, id }: ChunkRow) =>
  [bucket, series, minTime, maxTime, id] as const;

interface TakenChunk {
  readonly blocks: readonly Block[];
  readonly isDamaged: boolean;
  /** As they are stored. */
  readonly points: Uint8Array;
}

async function take(chunks: SeriesChunks, chunk: ChunkRow): Promise<TakenChunk> {
  const { points, summary } = await bytesOf(chunks, chunk);
  try {
    const blocks = blocksOf(points, `${chunk.id}`);
    return { blocks: withSummaries(blocks, summary ?? undefined), isDamaged: false, points };
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return { blocks: [], isDamaged: true, points };
  }
}

async function bytesOf({ session, key }: SeriesChunks, chunk: ChunkRow) {
  const row = await session.first<{ points: Uint8Array; summary: Uint8Array | null }>(
    ...([readChunk, ...placeOf(key, chunk)] as const),
  );
  if (row === undefined) throw new Error(`chunk ${chunk.id} went while it was looked at`);
  return row;
}

// Removing and inserting waits for no answer: the connection keeps the order of statements.
// `damaged`: what is kept of it.
function remove(
  { session, key }: SeriesChunks,
  chunk: ChunkRow,
  damaged: Uint8Array | undefined,
): void {
  if (damaged !== undefined) {
    session.send(keepDamaged, ...placeOf(key, chunk), chunk.count, damaged);
  }
  session.send(deleteChunk, ...placeOf(key, chunk));
}

/** Shorter chunks go without a summary: they are rewritten soon, and read as quickly. */
function insert(
  { session, key, limits }: SeriesChunks,
  blocks: readonly Block[],
  id?: number,
): void {
  const { bucket, series } = key;
  const minTime = blocks[0]?.minTime ?? 0;
  const maxTime = blocks.at(-1)?.maxTime ?? 0;
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const summary = count < limits.summaryDatapointsMin ? undefined : summaryOfBlocks(blocks);
  const bytes = [encodeChunk(blocks), summary ?? null] as const;
  const row = [bucket, series, minTime, maxTime, count, ...bytes] as const;
  if (id === undefined) session.send(insertChunk, ...row);
  else session.send(insertRest, ...row, id);
}
