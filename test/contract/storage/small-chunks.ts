import { blocksOf, columnsOf, encodeChunk, toBlock } from '../../../src/storage/chunks/chunk.ts';
import { cutColumns } from '../../../src/storage/chunks/column-pieces.ts';

interface ChunkRow {
  readonly id: number;
  readonly series: number;
  readonly datapoints: Uint8Array;
}

/** Of a connection to SQLite, what is needed here. */
interface Connection {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: readonly (number | Uint8Array)[]): unknown;
    all(): unknown;
  };
}

/**
 * Makes every chunk of a database several without summaries, every third of them small, as late
 * datapoints might have left them; answers how many there are.
 */
export function putSmallChunks(database: Connection): number {
  const insert = database.prepare(
    'insert into chunks (series, min_time, max_time, count, datapoints) values (?, ?, ?, ?, ?)',
  );
  const remove = database.prepare('delete from chunks where id = ?');
  const rows = database
    .prepare('select id, series, datapoints from chunks order by series, min_time, max_time, id')
    .all() as readonly ChunkRow[];
  let made = 0;
  database.exec('begin');
  for (const { id, series, datapoints } of rows) {
    const limits = { chunkDatapointsMax: id % 3 === 0 ? 200 : 1_024, chunkWeightMax: 16_384 };
    for (const block of blocksOf(datapoints, `${id}`)) {
      for (const columns of cutColumns(columnsOf(block), limits, 'fill')) {
        const { count, times } = columns;
        const ends = [times[0] ?? 0, times[count - 1] ?? 0] as const;
        insert.run(series, ...ends, count, encodeChunk([toBlock(columns)]));
        made += 1;
      }
    }
    remove.run(id);
  }
  database.exec('commit');
  return made;
}
