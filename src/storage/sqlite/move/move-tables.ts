import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { ownEntry } from '../../../lib/own-entry.ts';
import type { Mark, MovedPage } from '../../move/move-end.ts';
import type { MovedRow, MovedTable, MovedValue } from '../../move/tables.ts';

/** A table as this engine has it, where it is not as `movedTables` says. */
interface OwnTable {
  readonly from?: string;
  /** Expressions for columns that are named otherwise. */
  readonly select?: Readonly<Record<string, string>>;
  /** The columns that order its rows; together they are unique. */
  readonly order: readonly string[];
  readonly insert?: (database: DatabaseSync) => (row: MovedRow) => void;
}

const position: OwnTable = { order: ['position'] };

const ownTables: Readonly<Record<string, OwnTable>> = {
  installation_settings: { order: ['name'] },
  users: position,
  login_sessions: { order: ['id'] },
  tokens: position,
  access_keys: position,
  login_networks: { order: ['user_id', 'network'] },
  password_resets: { order: ['user_id', 'code_hash'] },
  failures: { order: ['limiter', 'key'] },
  call_texts: { order: ['call_id'] },
  grants: { order: ['kind', 'resource', 'username'] },
  user_groups: position,
  group_members: { order: ['username', 'group_id'] },
  invitations: position,
  invitation_uses: { order: ['invitation', 'user_id'] },
  group_grants: { order: ['group_id', 'kind', 'resource'] },
  devices: position,
  sensors: {
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
  actuators: position,
  chunks: {
    from: 'chunks left join chunk_summaries on chunk = chunks.id',
    select: { points: 'datapoints' },
    order: ['chunks.id'],
    insert: insertChunk,
  },
  damaged_points: {
    from: 'damaged_chunks',
    select: { points: 'datapoints' },
    order: ['id'],
    insert: (database) =>
      inserting(database, 'damaged_chunks', [
        ...['id', 'series', 'min_time', 'max_time', 'count'],
        ['datapoints', 'points'],
      ]),
  },
  corrections: position,
  hourly_summaries: { order: ['series', 'day'] },
  retained_series: { order: ['series'] },
  retentions: { order: ['rowid'] },
  gateways: position,
  projects: position,
  project_members: { order: ['project', 'kind', 'resource'] },
  socials: position,
  notifications: position,
  notification_states: { order: ['notification', 'device_id'] },
  deliveries: position,
  paid_messages: { order: ['day', 'payer', 'channel'] },
  mqtt_sessions: { order: ['session'] },
  mqtt_subscriptions: position,
  mqtt_messages: { order: ['message'] },
  mqtt_queue: position,
  mqtt_received: { order: ['session', 'packet_id'] },
  mqtt_retained: position,
};

function ownTable(name: string): OwnTable {
  const own = new Map(Object.entries(ownTables)).get(name);
  if (own === undefined) throw new Error(`nothing is known of the table ${name}`);
  return own;
}

const quoted = (name: string): string => `"${name}"`;

/** How many rows a table has. */
export function countRows(database: DatabaseSync, { name }: MovedTable): number {
  const from = ownTable(name).from ?? name;
  return Number(database.prepare(`select count(*) as n from ${from}`).get()?.['n']);
}

/** Rows of a table after a mark. */
export function readPage(
  database: DatabaseSync,
  { name, columns, pageRows }: MovedTable,
  after: Mark | undefined,
): MovedPage {
  const { from = name, select = {}, order } = ownTable(name);
  const wanted = columns.map(
    (column) => `${ownEntry(select, column) ?? quoted(column)} as "${column}"`,
  );
  const keys = order.map((expression, at) => `${expression} as "key ${at}"`);
  const places = order.map(() => '?').join(', ');
  const rows = database
    .prepare(
      `select ${[...wanted, ...keys].join(', ')} from ${from}
       ${after === undefined ? '' : `where (${order.join(', ')}) > (${places})`}
       order by ${order.join(', ')} limit ${pageRows}`,
    )
    .all(...(after ?? []));
  const last = rows.at(-1);
  const next = order.map((_, at) => last?.[`key ${at}`] as string | number);
  return {
    rows: rows as readonly MovedRow[],
    next: rows.length < pageRows ? undefined : next,
  };
}

/** The function that adds rows to a table. */
export function insertingInto(
  database: DatabaseSync,
  { name, columns }: MovedTable,
): (row: MovedRow) => void {
  return ownTable(name).insert?.(database) ?? inserting(database, name, columns);
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
