import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { MovedRow, MovedTable, MovedValue } from '../../move/tables.ts';
import { createMovedPages, type OwnTable } from '../../sql/moved-pages.ts';
import { createSession } from '../session.ts';

/** A table as this engine has it, where it is not as `movedTables` says. */
interface SqliteTable extends OwnTable {
  readonly insert?: (database: DatabaseSync) => (row: MovedRow) => void;
}

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
      insert: insertSensor,
    },
  ],
  [
    'chunks',
    {
      from: 'chunks left join chunk_summaries on chunk = chunks.id',
      select: { points: 'datapoints' },
      order: ['chunks.id'],
      insert: insertChunk,
    },
  ],
  [
    'damaged_points',
    {
      from: 'damaged_chunks',
      select: { points: 'datapoints' },
      order: ['id'],
      insert: (database) =>
        inserting(database, 'damaged_chunks', [
          ...['id', 'series', 'min_time', 'max_time', 'count'],
          ['datapoints', 'points'],
        ]),
    },
  ],
  ['hourly_summaries', { order: ['series', 'day'] }],
  ['retained_series', { order: ['series'] }],
  ['retentions', { order: ['rowid'] }],
]);

const quoted = (name: string): string => `"${name}"`;

/** Reads the tables page by page. */
export const readingPages = (database: DatabaseSync) =>
  createMovedPages(createSession(database), ownTables);

/** The function that adds rows to a table. */
export function insertingInto(
  database: DatabaseSync,
  { name, columns }: MovedTable,
): (row: MovedRow) => void {
  return ownTables.get(name)?.insert?.(database) ?? inserting(database, name, columns);
}

type Column = string | readonly [column: string, moved: string];

function inserting(
  database: DatabaseSync,
  table: string,
  columns: readonly Column[],
): (row: MovedRow) => void {
  const pairs = columns.map((column) => (typeof column === 'string' ? [column, column] : column));
  const names = pairs.map(([own = '']) => quoted(own)).join(', ');
  const places = pairs.map(() => '?').join(', ');
  const statement = database.prepare(`insert into ${table} (${names}) values (${places})`);
  return (row) => void statement.run(...pairs.map(([, moved = '']) => boundOf(row[moved])));
}

const boundOf = (value: MovedValue | undefined): SQLInputValue => value ?? null;

function insertSensor(database: DatabaseSync): (row: MovedRow) => void {
  const putSensor = inserting(database, 'sensors', ['series', 'device_id', 'sensor_id', 'details']);
  const putLast = inserting(database, 'last_values', [
    ...['series', 'sealed', 'bytes'],
    ...([['timestamp', 'last_at']] as const),
    ...([['received_at', 'last_received']] as const),
    ...([['value', 'last_value']] as const),
  ]);
  return (row) => {
    putSensor(row);
    if (row['last_value'] !== null) putLast(row);
  };
}

function insertChunk(database: DatabaseSync): (row: MovedRow) => void {
  const putChunk = inserting(database, 'chunks', [
    ...['id', 'series', 'min_time', 'max_time', 'count'],
    ['datapoints', 'points'],
  ]);
  const putSummary = inserting(database, 'chunk_summaries', [['chunk', 'id'], 'summary']);
  return (row) => {
    putChunk(row);
    if (row['summary'] !== null) putSummary(row);
  };
}
