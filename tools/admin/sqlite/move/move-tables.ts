import type { DatabaseSync } from 'node:sqlite';
import { createSession } from '../../../../src/storage/sqlite/session.ts';
import { createMovedPages, type OwnTable } from '../../move/moved-pages.ts';
import type { MovedRow, MovedTable } from '../../move/tables.ts';

/** A table that moved rows go to. */
interface OwnInsert {
  readonly table: string;
  /** Columns, each as it is or as `own=moved`. */
  readonly columns: readonly string[];
  /** Rows that have null there do not go to this table. */
  readonly unlessNull?: string;
}

/** A table as this engine has it, where it is not as `movedTables` says. */
interface SqliteTable extends OwnTable {
  readonly into?: readonly OwnInsert[];
}

const ofChunk = ['id', 'series', 'min_time', 'max_time', 'count', 'datapoints=points'];
const ofLast = ['series', 'sealed', 'bytes', 'timestamp=last_at', 'received_at=last_received'];

const ownTables: ReadonlyMap<string, SqliteTable> = new Map<string, SqliteTable>([
  [
    'sensors',
    {
      from: 'sensors left join last_values on last_values.series = sensors.series',
      select: {
        series: 'sensors.series',
        sealed: 'coalesce(sealed, 0)',
        bytes: 'coalesce(bytes, 0)',
        last_at: 'timestamp',
        last_received: 'received_at',
        last_value: 'value',
      },
      order: ['sensors.series'],
      into: [
        { table: 'sensors', columns: ['series', 'device_id', 'sensor_id', 'details'] },
        {
          table: 'last_values',
          columns: [...ofLast, 'value=last_value'],
          unlessNull: 'last_value',
        },
      ],
    },
  ],
  [
    'chunks',
    {
      from: 'chunks left join chunk_summaries on chunk = chunks.id',
      select: { points: 'datapoints' },
      order: ['chunks.id'],
      into: [
        { table: 'chunks', columns: ofChunk },
        { table: 'chunk_summaries', columns: ['chunk=id', 'summary'], unlessNull: 'summary' },
      ],
    },
  ],
  [
    'damaged_points',
    {
      from: 'damaged_chunks',
      select: { points: 'datapoints' },
      order: ['id'],
      into: [{ table: 'damaged_chunks', columns: ofChunk }],
    },
  ],
  ['hourly_summaries', { order: ['series', 'day'] }],
  ['retained_series', { order: ['series'] }],
  ['retentions', { order: ['rowid'] }],
]);

/** Reads the tables page by page. */
export const readingPages = (database: DatabaseSync) =>
  createMovedPages(createSession(database), ownTables);

/** The function that adds rows to a table. */
export function insertingInto(
  database: DatabaseSync,
  { name, columns }: MovedTable,
): (row: MovedRow) => void {
  const into = ownTables.get(name)?.into ?? [{ table: name, columns }];
  const inserts = into.map((own) => inserting(database, own));
  return (row) => {
    for (const insert of inserts) insert(row);
  };
}

function inserting(
  database: DatabaseSync,
  { table, columns, unlessNull }: OwnInsert,
): (row: MovedRow) => void {
  const pairs = columns.map((column) => column.split('='));
  const names = pairs.map(([own = '']) => `"${own}"`).join(', ');
  const places = pairs.map(() => '?').join(', ');
  const statement = database.prepare(`insert into ${table} (${names}) values (${places})`);
  return (row) => {
    if (unlessNull !== undefined && row[unlessNull] === null) return;
    statement.run(...pairs.map(([own = '', moved = own]) => row[moved] ?? null));
  };
}
