import { ownEntry } from '../../../lib/own-entry.ts';
import { readHours } from '../../chunks/retention-step.ts';
import type { Mark, MovedPage } from '../../move/move-end.ts';
import type { MovedRow, MovedTable } from '../../move/tables.ts';
import { bucketOf } from '../../sql/bucket.ts';
import type { SqlSession, Value } from '../../sql/session.ts';
import { indexKey } from '../text.ts';

/** The buckets of sensors, by series. */
type Buckets = ReadonlyMap<number, number>;

/** A table as this engine has it, where it is not as `movedTables` says. */
interface OwnTable {
  readonly from?: string;
  /** Expressions for columns that are named otherwise. */
  readonly select?: Readonly<Record<string, string>>;
  /** Columns of the order of its rows; a unique index has them. */
  readonly order: readonly string[];
  /** Columns of its own. */
  readonly own?: (row: MovedRow, buckets: Buckets) => Readonly<Record<string, Value>>;
  /** The column whose numbers the database makes, from the next one on. */
  readonly identity?: string;
}

const position: OwnTable = { order: ['position'], identity: 'position' };
const ofDevice = (row: MovedRow) => ({ bucket: bucketOf(String(row['device_id'])) });
const ofSeries = (row: MovedRow, buckets: Buckets) => ({
  bucket: buckets.get(Number(row['series'])) ?? null,
});

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
  grants: { order: ['kind', 'resource', 'nocase(username)'] },
  user_groups: position,
  group_members: { order: ['nocase(username)', 'group_id'] },
  invitations: position,
  invitation_uses: { order: ['invitation', 'user_id'] },
  group_grants: { order: ['group_id', 'kind', 'resource'] },
  devices: { ...position, own: (row) => ({ bucket: bucketOf(String(row['id'])) }) },
  sensors: {
    // Bytes of a sensor without a value are hours alone, which the other engine does not count.
    select: { bytes: 'case when last_value is null then 0 else bytes end' },
    order: ['bucket', 'series'],
    identity: 'series',
    own: (row) => ({ ...ofDevice(row), arrivals: row['sealed'] ?? 0 }),
  },
  actuators: { ...position, own: ofDevice },
  chunks: {
    order: ['bucket', 'series', 'min_time', 'max_time', 'id'],
    identity: 'id',
    own: ofSeries,
  },
  damaged_points: {
    select: { id: `case when kind = 'chunk' then id else -position end` },
    order: ['position'],
    own: (row, buckets) => ({
      ...ofSeries(row, buckets),
      kind: Number(row['id']) < 0 ? 'hot' : 'chunk',
    }),
  },
  corrections: { ...position, own: ofSeries },
  hourly_summaries: {
    order: ['bucket', 'series', 'day'],
    own: (row, buckets) => ({
      ...ofSeries(row, buckets),
      hours: row['summary'] instanceof Uint8Array ? readHours(row['summary']).length : 0,
    }),
  },
  retained_series: { order: ['bucket', 'series'], own: ofSeries },
  retentions: {
    from: 'retentions left join users on users.id = user_id',
    order: ['retentions.position'],
  },
  gateways: position,
  projects: position,
  project_members: { order: ['project', 'kind', 'resource'] },
  socials: position,
  notifications: position,
  notification_states: { order: ['notification', 'device_id'], own: ofDevice },
  deliveries: position,
  paid_messages: { order: ['day', 'nocase(payer)', 'channel'] },
  mqtt_sessions: {
    order: ['session'],
    identity: 'session',
    own: ({ identity, client_id }) => ({ key: indexKey(JSON.stringify([identity, client_id])) }),
  },
  mqtt_subscriptions: { ...position, own: ({ filter }) => ({ key: indexKey(String(filter)) }) },
  mqtt_messages: { order: ['message'], identity: 'message' },
  mqtt_queue: position,
  mqtt_received: { order: ['session', 'packet_id'] },
  mqtt_retained: { ...position, own: ({ topic }) => ({ key: indexKey(String(topic)) }) },
};

function ownTable(name: string): OwnTable {
  const own = new Map(Object.entries(ownTables)).get(name);
  if (own === undefined) throw new Error(`nothing is known of the table ${name}`);
  return own;
}

const quoted = (name: string): string => `"${name}"`;

/** How many rows a table has. */
export async function countRows(session: SqlSession, { name }: MovedTable): Promise<number> {
  return (await session.first<{ n: number }>(`select count(*) as n from ${name}`))?.n ?? 0;
}

/** Rows of a table after a mark. */
export async function readPage(
  session: SqlSession,
  { name, columns, pageRows }: MovedTable,
  after: Mark | undefined,
): Promise<MovedPage> {
  const { from = name, select = {}, order } = ownTable(name);
  const wanted = columns.map(
    (column) => `${ownEntry(select, column) ?? quoted(column)} as "${column}"`,
  );
  const keys = order.map((expression, at) => `${expression} as "key ${at}"`);
  const places = order.map((_, at) => `$${at + 1}`).join(', ');
  const rows = await session.all<Readonly<Record<string, string | number | Uint8Array | null>>>(
    `select ${[...wanted, ...keys].join(', ')} from ${from}
     ${after === undefined ? '' : `where (${order.join(', ')}) > (${places})`}
     order by ${order.join(', ')} limit ${pageRows}`,
    ...(after ?? []),
  );
  const last = rows.at(-1);
  const next = order.map((_, at) => last?.[`key ${at}`] as string | number);
  return { rows, next: rows.length < pageRows ? undefined : next };
}

const insertRetention = `
  insert into retentions (bucket, series, device, user_id, raw_days, hourly_days)
  values ($1, $2, $3, (select id from users where nocase(username) = nocase($4)), $5, $6)`;

/** Adds rows to a table. */
export async function insertRows(
  session: SqlSession,
  { name, columns }: MovedTable,
  rows: readonly MovedRow[],
  buckets: Buckets,
): Promise<void> {
  if (name === 'retentions') {
    for (const { series, device, username, raw_days, hourly_days } of rows) {
      const bucket = series == null ? null : (buckets.get(Number(series)) ?? null);
      const place = [bucket, series ?? null, device ?? null, username ?? null] as const;
      await session.run(insertRetention, ...place, raw_days ?? null, hourly_days ?? null);
    }
    return;
  }
  const { own } = ownTable(name);
  const full = rows.map((row) => ({ ...row, ...own?.(row, buckets) }));
  const [first] = full;
  if (first === undefined) return;
  const names = [...new Set([...columns, ...Object.keys(first)])].filter(
    (column) => !column.startsWith('key '),
  );
  const places = full.map(
    (_, row) => `(${names.map((_name, at) => `$${row * names.length + at + 1}`).join(', ')})`,
  );
  await session.run(
    `insert into ${name} (${names.map(quoted).join(', ')}) overriding system value
     values ${places.join(', ')}`,
    ...full.flatMap((row) => {
      const values = new Map(Object.entries(row));
      return names.map((column) => values.get(column) ?? null);
    }),
  );
}

/** Lets numbers that the database makes go on after those that were moved. */
export async function continueNumbers(
  session: SqlSession,
  tables: readonly MovedTable[],
): Promise<void> {
  for (const { name } of tables) {
    const { identity } = ownTable(name);
    if (identity === undefined) continue;
    await session.all(
      `select setval(pg_get_serial_sequence(quote_ident(current_schema()) || '.${name}',
         '${identity}'), greatest(1, max(${quoted(identity)})),
         max(${quoted(identity)}) is not null)
       from ${name}`,
    );
  }
}
