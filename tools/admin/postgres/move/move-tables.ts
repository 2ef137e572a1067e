import { readHours } from '../../../../src/storage/chunks/retention-step.ts';
import { indexKey } from '../../../../src/storage/postgres/text.ts';
import { bucketOf } from '../../../../src/storage/sql/device-row.ts';
import type { SqlSession, Value } from '../../../../src/storage/sql/session.ts';
import { createMovedPages, isByPosition, type OwnTable } from '../../move/moved-pages.ts';
import type { MovedRow, MovedTable } from '../../move/tables.ts';

/** The buckets of sensors, by series. */
type Buckets = ReadonlyMap<number, number>;

/** A table as this engine has it, where it is not as `movedTables` says. */
interface PostgresTable extends OwnTable {
  /** Columns of its own. */
  readonly own?: (row: MovedRow, buckets: Buckets) => Readonly<Record<string, Value>>;
  /** The column whose numbers the database makes, from the next one on. */
  readonly identity?: string;
}

const ofDevice = (row: MovedRow) => ({ bucket: bucketOf(String(row['device_id'])) });
const ofSeries = (row: MovedRow, buckets: Buckets) => ({
  bucket: buckets.get(Number(row['series'])) ?? null,
});

const ownTables: ReadonlyMap<string, PostgresTable> = new Map<string, PostgresTable>([
  ['devices', { own: (row) => ({ bucket: bucketOf(String(row['id'])) }) }],
  [
    'sensors',
    {
      // Bytes of a sensor without a value are hours alone, which the other engine does not count.
      select: { bytes: 'case when last_value is null then 0 else bytes end' },
      order: ['bucket', 'series'],
      identity: 'series',
      own: (row) => ({ ...ofDevice(row), arrivals: row['sealed'] ?? 0 }),
    },
  ],
  ['actuators', { own: ofDevice }],
  [
    'chunks',
    { order: ['bucket', 'series', 'min_time', 'max_time', 'id'], identity: 'id', own: ofSeries },
  ],
  [
    'damaged_points',
    {
      select: { id: `case when kind = 'chunk' then id else -position end` },
      order: ['position'],
      own: (row, buckets) => ({
        ...ofSeries(row, buckets),
        kind: Number(row['id']) < 0 ? 'hot' : 'chunk',
      }),
    },
  ],
  ['corrections', { own: ofSeries }],
  [
    'hourly_summaries',
    {
      order: ['bucket', 'series', 'day'],
      own: (row, buckets) => ({
        ...ofSeries(row, buckets),
        hours: row['summary'] instanceof Uint8Array ? readHours(row['summary']).length : 0,
      }),
    },
  ],
  ['retained_series', { order: ['bucket', 'series'], own: ofSeries }],
  [
    'retentions',
    {
      from: 'retentions left join users on users.id = user_id',
      order: ['retentions.position'],
    },
  ],
  ['notification_states', { own: ofDevice }],
  [
    'mqtt_sessions',
    {
      identity: 'session',
      own: ({ identity, client_id }) => ({ key: indexKey(JSON.stringify([identity, client_id])) }),
    },
  ],
  ['mqtt_subscriptions', { own: ({ filter }) => ({ key: indexKey(String(filter)) }) }],
  ['mqtt_messages', { identity: 'message' }],
  ['mqtt_retained', { own: ({ topic }) => ({ key: indexKey(String(topic)) }) }],
]);

const quoted = (name: string): string => `"${name}"`;

/** Reads the tables page by page. */
export const readingPages = (session: SqlSession) => createMovedPages(session, ownTables);

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
  const { own } = ownTables.get(name) ?? {};
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
    const own = ownTables.get(name);
    const identity = own?.identity ?? (isByPosition(name, own) ? 'position' : undefined);
    if (identity === undefined) continue;
    await session.all(
      `select setval(pg_get_serial_sequence(quote_ident(current_schema()) || '.${name}',
         '${identity}'), greatest(1, max(${quoted(identity)})),
         max(${quoted(identity)}) is not null)
       from ${name}`,
    );
  }
}
