import type { Log } from '../../../../src/lib/log.ts';
import { sessionOn } from '../../../../src/storage/postgres/connection.ts';
import { newestTables, versionOf } from '../../../../src/storage/postgres/migrate.ts';
import { openPostgres } from '../../../../src/storage/postgres/postgres-storage.ts';
import { lockService } from '../../../../src/storage/postgres/service-lock.ts';
import { hotLimits } from '../../../../src/storage/postgres/timeseries/hot-limits.ts';
import type { SqlSession } from '../../../../src/storage/sql/session.ts';
import type { DatabasePlace } from '../../../../src/storage/storage.ts';
import { UnusableStorageError } from '../../../../src/storage/unusable-storage-error.ts';
import { type MoveSource, untilFlushed } from '../../move/move.ts';
import { connectForCommand } from '../command-opening.ts';
import { readingPages } from './move-tables.ts';

/** Limits by which all datapoints outside chunks are flushed to chunks. */
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
export async function openMoveSource({ url }: DatabasePlace, log: Log): Promise<MoveSource> {
  const first = await connectForCommand(url, { makes: false });
  const version = await versionOf(first).finally(() => first.end());
  // A newer version may keep what this one would leave behind.
  if (version !== newestTables) {
    throw new UnusableStorageError(
      `the database has version ${version}, and this kipimo moves version ${newestTables}: ` +
        'move it with the newer kipimo',
    );
  }
  const storage = await openPostgres({ url, log, datapointLimits: flushAll });
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
    return {
      name: await nameOf(session),
      secret: async () => (await session.first<{ value: string }>(selectSecret))?.value ?? '',
      ...readingPages(session),
      close: () => client.end(),
    };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

const isOutside = async (session: SqlSession): Promise<boolean> =>
  (await session.first<{ found: boolean }>(hasHot))?.found === true;

/** Which database it is, whatever it is called and whichever role asks. */
async function nameOf(session: SqlSession): Promise<string> {
  const row = await session.first<{ schema: string; database: string; system: string }>(selectName);
  return `postgres ${row?.system} ${row?.database} ${row?.schema}`;
}
