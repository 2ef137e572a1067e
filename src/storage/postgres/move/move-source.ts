import type { Log } from '../../../lib/log.ts';
import type { MovedPage, MoveSource } from '../../move/move-end.ts';
import { untilFlushed } from '../../move/until-flushed.ts';
import type { DatabasePlace } from '../../place.ts';
import type { SqlSession } from '../../sql/session.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { connectForCommand } from '../command-opening.ts';
import { sessionOn } from '../connection.ts';
import { openPostgres } from '../postgres-storage.ts';
import { lockService } from '../service-lock.ts';
import { lacking, type SentBytes, type SentChunks } from '../shards/sent-chunks.ts';
import { openShardsForReading } from '../shards/shard-reading.ts';
import { hotLimits } from '../timeseries/hot-limits.ts';
import { countRows, readPage } from './move-tables.ts';

/** Whatever is outside chunks is to go there. */
const flushAll = { ...hotLimits, flushRowsMin: 1, flushDatapointsMin: 1 };

const selectName = `
  select current_schema() as schema, current_database() as database,
    (select system_identifier::text from pg_control_system()) as system`;
const selectSecret = `select value from secrets where name = 'installation'`;
const hasHot = 'select exists (select 1 from hot) as found';

/**
 * Opens a database to be moved, with all datapoints in chunks, and locks it: no service writes it
 * until `close`. Throws UnusableStorageError while one runs, or when there is no data.
 */
export async function openMoveSource(place: DatabasePlace, log: Log): Promise<MoveSource> {
  const { url, shardUrls = [] } = place;
  await (await connectForCommand(url, { makes: false })).end();
  const storage = await openPostgres({ url, shardUrls, log, datapointLimits: flushAll });
  try {
    const client = await connectForCommand(url, { makes: false });
    const session = sessionOn(client);
    await untilFlushed(async () => !(await isOutside(session))).finally(() => client.end());
    await storage.installation.secret();
  } finally {
    await storage.close();
  }
  const client = await connectForCommand(url, { makes: false });
  try {
    await lockService(client, undefined, 'command');
    const session = sessionOn(client);
    if (await isOutside(session)) {
      throw new UnusableStorageError('a service wrote to the database just now: begin again');
    }
    const sent = await openShardsForReading(session, shardUrls);
    const sum = 'select coalesce(sum(count), 0) as n from chunks';
    return {
      name: await nameOf(session),
      secret: async () => (await session.first<{ value: string }>(selectSecret))?.value ?? '',
      datapoints: async () => (await session.first<{ n: number }>(sum))?.n ?? 0,
      count: (table) => countRows(session, table),
      async page(table, after) {
        const page = await readPage(session, table, after);
        return table.name === 'chunks' ? withSentBytes(session, sent, page) : page;
      },
      async close() {
        await sent.close();
        await client.end();
      },
    };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

interface SentRow {
  readonly id: number;
  readonly bucket: number;
  readonly series: number;
  readonly shard: number;
}

const selectSent = `
  select id, bucket, series, shard from chunks
  where series = any($1::bigint[]) and id = any($2::bigint[]) and sent_bytes is not null`;

/** Chunks as if all their bytes were in the database. Throws when one cannot be had. */
async function withSentBytes(
  session: SqlSession,
  sent: SentChunks,
  page: MovedPage,
): Promise<MovedPage> {
  const of = (name: string) => page.rows.map((row) => Number(row[name]));
  const rows = await session.all<SentRow>(selectSent, of('series'), of('id'));
  const whole = new Map<number, SentBytes>();
  for (const { id, shard, ...key } of rows) {
    const how = { parts: ['points', 'summary'], isUrgent: false } as const;
    const found = (await sent.read(shard, key, [id], how)).get(id);
    if (found === undefined) throw lacking(shard, id);
    whole.set(id, found);
  }
  return { ...page, rows: page.rows.map((row) => ({ ...row, ...whole.get(Number(row['id'])) })) };
}

const isOutside = async (session: SqlSession): Promise<boolean> =>
  (await session.first<{ found: boolean }>(hasHot))?.found === true;

/** Which database it is, whatever it is called and whoever asks. */
async function nameOf(session: SqlSession): Promise<string> {
  const row = await session.first<{ schema: string; database: string; system: string }>(selectName);
  return `postgres ${row?.system} ${row?.database} ${row?.schema}`;
}
