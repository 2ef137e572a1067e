import type { DatabaseSync } from 'node:sqlite';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import { decodeChunk, encodeChunk } from '../../chunks/chunk-codec.ts';
import type { Columns } from '../../chunks/columns.ts';

const findChunkFrom = `
  select id, max_time, count from chunks where series = ? and min_time <= ?
  order by min_time desc, max_time desc, id desc limit 1`;
const findNextTime = `
  select min_time from chunks where series = ? and min_time > ?
  order by min_time, max_time, id limit 1`;
const readChunk = 'select datapoints from chunks where id = ?';
const insertChunk = `
  insert into chunks (series, min_time, max_time, count, datapoints) values (?, ?, ?, ?, ?)`;
const deleteChunk = 'delete from chunks where id = ?';
const keepDamaged = `
  insert into damaged_chunks (id, series, min_time, max_time, count, datapoints)
  select id, series, min_time, max_time, count, datapoints from chunks where id = ?`;

/** What is known of a chunk without reading it. */
export interface ChunkHead {
  readonly id: number;
  readonly maxTime: number;
  readonly count: number;
}

/** The chunks of a database, as the writer thread changes them. */
export function createChunkTable(database: DatabaseSync) {
  const find = database.prepare(findChunkFrom);
  const findNext = database.prepare(findNextTime);
  const read = database.prepare(readChunk);
  const insert = database.prepare(insertChunk);
  const remove = database.prepare(deleteChunk);
  const setAside = database.prepare(keepDamaged);
  for (const statement of [find, findNext, read]) statement.setReturnArrays(true);

  return {
    /** The last chunk that begins at this time or before it. */
    findFrom(series: number, time: number): ChunkHead | undefined {
      const row = find.get(series, time) as unknown as [number, number, number] | undefined;
      return row === undefined ? undefined : { id: row[0], maxTime: row[1], count: row[2] };
    },
    /** When the first chunk after this time begins. */
    nextTime(series: number, time: number): number {
      const row = findNext.get(series, time) as unknown as [number] | undefined;
      return row?.[0] ?? Number.POSITIVE_INFINITY;
    },
    /** Removes a chunk and answers its datapoints; one that cannot be read is set aside. */
    take(id: number): Columns | 'damaged' {
      const [bytes] = read.get(id) as unknown as [Uint8Array];
      try {
        return decodeChunk(bytes, `${id}`);
      } catch (error) {
        if (!(error instanceof DamagedBytesError)) throw error;
        // A thread cannot log; the report says it, and the service goes on without the chunk.
        setAside.run(id);
        return 'damaged';
      } finally {
        remove.run(id);
      }
    },
    /** Adds a chunk of datapoints in order of time. */
    insert(series: number, columns: Columns): void {
      const first = columns.times[0] ?? 0;
      const last = columns.times[columns.count - 1] ?? 0;
      insert.run(series, first, last, columns.count, encodeChunk(columns));
    },
  };
}
