import type { ChunkBytes, ChunkLimits, ChunkRow, ChunkStore } from '../../chunks/chunk-store.ts';
import type { WriteSession } from '../writer.ts';

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

/** The chunks of a sensor inside a commit. */
export function chunksOf(
  session: WriteSession,
  { bucket, series }: SeriesKey,
  limits: ChunkLimits,
): ChunkStore {
  const key = [bucket, series] as const;
  const placeOf = ({ minTime, maxTime, id }: ChunkRow) => [...key, minTime, maxTime, id] as const;
  return {
    limits,
    async around(time) {
      const [before, next] = await Promise.all([
        session.first<ChunkRow>(findChunkFrom, ...key, time),
        session.first<{ time: number }>(findNextTime, ...key, time),
      ]);
      return { before, nextTime: next?.time ?? Number.POSITIVE_INFINITY };
    },
    inFront: (chunk) => session.first<ChunkRow>(findChunkBefore, ...placeOf(chunk)),
    oldest: () => session.all<ChunkRow>(findOldest, ...key),
    async read(chunk) {
      const row = await session.first<ChunkBytes>(readChunk, ...placeOf(chunk));
      if (row === undefined) throw new Error(`chunk ${chunk.id} went while it was looked at`);
      return row;
    },
    // Removing and inserting waits for no answer: the connection keeps the order of statements.
    remove(chunk, damaged) {
      const place = placeOf(chunk);
      if (damaged !== undefined) session.send(keepDamaged, ...place, chunk.count, damaged);
      session.send(deleteChunk, ...place);
    },
    insert({ minTime, maxTime, count, points, summary = null }, id) {
      const row = [...key, minTime, maxTime, count, points, summary] as const;
      if (id === undefined) session.send(insertChunk, ...row);
      else session.send(insertRest, ...row, id);
    },
  };
}

/** Which sensor's datapoints. */
export interface SeriesKey {
  readonly bucket: number;
  readonly series: number;
}
