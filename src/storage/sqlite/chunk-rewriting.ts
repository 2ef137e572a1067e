import type { DatabaseSync } from 'node:sqlite';
import { type Block, blocksOf } from '../chunks/chunk.ts';
import { type ChunkLimits, chunkOf, unlessDamaged } from '../chunks/chunk-store.ts';

const listSeries = 'select distinct series from chunks order by series';
const listChunks = 'select id from chunks where series = ? order by min_time, max_time, id';
const readChunk = 'select min_time, max_time, count, datapoints from chunks where id = ?';
const deleteChunk = 'delete from chunks where id = ?';
const insertChunk = `
  insert into chunks (series, min_time, max_time, count, datapoints) values (?, ?, ?, ?, ?)`;
const findSummaries =
  "select 1 from sqlite_schema where type = 'table' and name = 'chunk_summaries'";

/**
 * Writes the chunks of a database that no other process uses anew, with summaries and as many
 * blocks in a row as there may be, each series whole or not at all. A chunk that cannot be read
 * stays as it is. The caller's transaction holds all of it.
 */
export function rewriteChunks(database: DatabaseSync, limits: ChunkLimits): void {
  const list = database.prepare(listChunks);
  const read = database.prepare(readChunk);
  const remove = database.prepare(deleteChunk);
  const insert = database.prepare(insertChunk);

  const summaries = createSummaries(database, limits);
  summaries.makeAnew();

  const rowOf = (id: number): ChunkRow => read.get(id) as unknown as ChunkRow;

  const blocksIn = (id: number): readonly Block[] | undefined =>
    unlessDamaged(() => blocksOf(rowOf(id).datapoints, `${id}`));

  /** Which chunks become one, in their order. */
  function groupsOf(ids: readonly number[]): readonly Group[] {
    const groups: Group[] = [];
    let [blocks, bytes] = [0, 0];
    for (const [at, id] of ids.entries()) {
      const found = blocksIn(id);
      const size = found?.reduce((sum, block) => sum + block.bytes.length, 0) ?? 0;
      const lacksSummary = found !== undefined && summaries.lacks(id, found);
      // A series ends in a chunk of one block that is not full: what comes next joins it alone.
      const isLast = at === ids.length - 1 && isOpenEnd(found ?? [], limits);
      const hasRoom =
        found !== undefined &&
        blocks + found.length <= limits.chunkBlocksMax &&
        bytes + size <= limits.chunkRowBytesMax;
      const group = groups.at(-1);
      if (group !== undefined && !group.isDamaged && hasRoom && !isLast) {
        group.ids.push(id);
        group.lacksSummary ||= lacksSummary;
      } else {
        groups.push({ ids: [id], lacksSummary, isDamaged: found === undefined });
        [blocks, bytes] = [0, 0];
      }
      blocks += found?.length ?? 0;
      bytes += size;
    }
    return groups;
  }

  function write(series: number, { ids, isDamaged }: Group): void {
    const [first = 0] = ids;
    if (isDamaged) {
      const { min_time, max_time, count, datapoints } = rowOf(first);
      insert.run(series, min_time, max_time, count, datapoints);
    } else {
      const blocks = ids.flatMap((id) => blocksIn(id) ?? []);
      const { minTime, maxTime, count, points, summary } = chunkOf(blocks, limits);
      const added = insert.run(series, minTime, maxTime, count, points);
      if (summary !== undefined) summaries.insert(Number(added.lastInsertRowid), summary);
    }
    for (const id of ids) {
      remove.run(id);
      summaries.remove(id);
    }
  }

  for (const { series } of database.prepare(listSeries).all()) {
    const groups = groupsOf(list.all(Number(series)).map(({ id }) => Number(id)));
    // All of them, as at the same time the order of ids is that of arrival.
    const isWorthIt = groups.some(({ ids, lacksSummary }) => lacksSummary || ids.length > 1);
    if (isWorthIt) for (const group of groups) write(Number(series), group);
  }
}

/** Summaries of chunks, where the database is new enough to have them. */
function createSummaries(database: DatabaseSync, limits: ChunkLimits) {
  if (database.prepare(findSummaries).get() === undefined) {
    const nothing = () => undefined;
    return { lacks: () => false, makeAnew: nothing, insert: nothing, remove: nothing };
  }
  const find = database.prepare('select 1 from chunk_summaries where chunk = ?');
  const insert = database.prepare('insert into chunk_summaries (chunk, summary) values (?, ?)');
  const remove = database.prepare('delete from chunk_summaries where chunk = ?');
  const isDue = (blocks: readonly Block[]): boolean =>
    blocks.reduce((sum, { count }) => sum + count, 0) >= limits.summaryDatapointsMin;
  return {
    /** Deletes summaries, whatever they say: chunks lack them until they are written. */
    makeAnew(): void {
      database.exec('delete from chunk_summaries where chunk in (select id from chunks)');
    },
    lacks: (id: number, blocks: readonly Block[]) => isDue(blocks) && find.get(id) === undefined,
    insert: (id: number, summary: Uint8Array) => void insert.run(id, summary),
    remove(id: number): void {
      remove.run(id);
    },
  };
}

interface ChunkRow {
  readonly min_time: number;
  readonly max_time: number;
  readonly count: number;
  readonly datapoints: Uint8Array;
}

interface Group {
  readonly ids: number[];
  lacksSummary: boolean;
  readonly isDamaged: boolean;
}

const isOpenEnd = ([block, ...others]: readonly Block[], limits: ChunkLimits): boolean =>
  block !== undefined && others.length === 0 && block.count < limits.chunkDatapointsMax;
