import type { DatabaseSync } from 'node:sqlite';
import type {
  ChunkBytes,
  ChunkLimits,
  ChunkRow,
  ChunkStore,
  NewChunk,
} from '../../chunks/chunk-store.ts';
import { createSelection } from '../connection.ts';

const columns = `
  id, min_time as "minTime", max_time as "maxTime", count, octet_length(datapoints) as bytes`;
const findChunkFrom = `
  select ${columns} from chunks where series = ? and min_time <= ?
  order by min_time desc, max_time desc, id desc limit 1`;
const findChunkBefore = `
  select ${columns} from chunks
  where series = ? and (min_time, max_time, id) < (?, ?, ?)
  order by min_time desc, max_time desc, id desc limit 1`;
const findOldest = `
  select ${columns} from chunks where series = ? order by min_time, max_time, id limit 2`;
const findNextTime = `
  select min_time as time from chunks where series = ? and min_time > ?
  order by min_time, max_time, id limit 1`;
const readChunk = `
  select datapoints as points, summary from chunks left join chunk_summaries on chunk = id
  where id = ?`;
const insertChunk = `
  insert into chunks (id, series, min_time, max_time, count, datapoints) values (?, ?, ?, ?, ?, ?)`;
const insertSummary = 'insert into chunk_summaries (chunk, summary) values (?, ?)';
const deleteChunk = 'delete from chunks where id = ?';
const keepDamaged = `
  insert into damaged_chunks (id, series, min_time, max_time, count, datapoints)
  select id, series, min_time, max_time, count, datapoints from chunks where id = ?`;

/** The chunks of a database, by series, as the writer thread changes them. */
export function createChunkTable(database: DatabaseSync) {
  const from = createSelection<ChunkRow>(database, findChunkFrom);
  const front = createSelection<ChunkRow>(database, findChunkBefore);
  const next = createSelection<{ readonly time: number }>(database, findNextTime);
  const oldest = createSelection<ChunkRow>(database, findOldest);
  const rows = createChunkRows(database);
  const keep = database.prepare(keepDamaged);

  return (series: number, limits: ChunkLimits): ChunkStore => ({
    limits,
    around(time) {
      const before = from.first(series, time);
      const isInside = before !== undefined && before.maxTime > time;
      const after = isInside ? undefined : next.first(series, time);
      return { before, nextTime: after?.time ?? Number.POSITIVE_INFINITY };
    },
    inFront: ({ minTime, maxTime, id }) => front.first(series, minTime, maxTime, id),
    oldest: () => oldest.all(series),
    read({ id }) {
      const found = rows.read(id);
      if (found === undefined) throw new Error(`chunk ${id} is not there`);
      return found;
    },
    // A thread cannot log; the report says it, and the service goes on without what is damaged.
    remove({ id }, damaged) {
      if (damaged !== undefined) keep.run(id);
      rows.remove(id);
    },
    insert: (chunk, id) => rows.insert(series, chunk, id),
  });
}

/** Single chunks, by their ids. */
export function createChunkRows(database: DatabaseSync) {
  const read = createSelection<ChunkBytes>(database, readChunk);
  const insert = database.prepare(insertChunk);
  const summarise = database.prepare(insertSummary);
  const remove = database.prepare(deleteChunk);

  return {
    /** Undefined: it is gone. */
    read: (id: number) => read.first(id),
    remove: (id: number) => void remove.run(id),
    insert(series: number, chunk: NewChunk, id?: number): void {
      const { minTime, maxTime, count, points, summary } = chunk;
      const added = insert.run(id ?? null, series, minTime, maxTime, count, points);
      if (summary !== undefined) summarise.run(added.lastInsertRowid, summary);
    },
  };
}
