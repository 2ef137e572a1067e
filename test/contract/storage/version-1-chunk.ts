import { crc32 } from 'node:zlib';
import {
  createSink,
  putByte,
  putBytes,
  putText,
  putUint32,
  putVarint,
  writtenBytes,
} from '../../../src/storage/chunks/bytes.ts';
import { blocksOf, columnsOf } from '../../../src/storage/chunks/chunk.ts';
import { cutColumns } from '../../../src/storage/chunks/column-pieces.ts';
import type { Columns } from '../../../src/storage/chunks/columns.ts';
import { putDoubles } from '../../../src/storage/chunks/doubles.ts';
import { putFlags } from '../../../src/storage/chunks/flags.ts';

/** A chunk of version 1, as services of before wrote it, but for its compression. */
export function encodeVersion1(columns: Columns): Buffer {
  const { count, times, received, timed, numbers, texts } = columns;
  const body = createSink(count * 24 + 64);
  putByte(body, 0);
  putDoubles(body, times);
  putFlags(body, timed);
  putByte(body, 0);
  putDoubles(body, received);
  const isText = Uint8Array.from({ length: count }, (_, row) => (texts?.[row] ? 1 : 0));
  putFlags(body, isText);
  putByte(body, 0);
  putDoubles(
    body,
    numbers.filter((_, row) => isText[row] === 0),
  );
  for (const text of texts ?? []) if (text !== undefined) putText(body, text);
  const rest = createSink(body.length + 16);
  putVarint(rest, count);
  putVarint(rest, body.length);
  putBytes(rest, writtenBytes(body));
  const sink = createSink(rest.length + 6);
  putByte(sink, 1);
  putByte(sink, 0);
  putUint32(sink, crc32(writtenBytes(rest)));
  putBytes(sink, writtenBytes(rest));
  return writtenBytes(sink);
}

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
 * Makes every chunk of a database several of version 1, every third of them small, as a version of
 * before might have left them; answers how many there are.
 */
export function putVersion1Chunks(database: Connection): number {
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
        insert.run(series, ...ends, count, encodeVersion1(columns));
        made += 1;
      }
    }
    remove.run(id);
  }
  database.exec('commit');
  return made;
}
