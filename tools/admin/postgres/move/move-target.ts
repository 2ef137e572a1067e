import type pg from 'pg';
import { inTransaction, sessionOn } from '../../../../src/storage/postgres/connection.ts';
import { migrate } from '../../../../src/storage/postgres/migrate.ts';
import { connectWriter, unusable } from '../../../../src/storage/postgres/opening.ts';
import { lockService } from '../../../../src/storage/postgres/service-lock.ts';
import type { SqlSession } from '../../../../src/storage/sql/session.ts';
import { UnusableStorageError } from '../../../../src/storage/unusable-storage-error.ts';
import { createMoveProgress, type MovedPage, type MoveTarget } from '../../move/move.ts';
import { type MovedTable, movedTables } from '../../move/tables.ts';
import { continueNumbers, insertRows, readingPages } from './move-tables.ts';

const putSecret = `
  insert into secrets (name, value) values ('installation', $1)
  on conflict (name) do update set value = excluded.value`;
const setNewest = `
  update sensors set newest = (select max(max_time) from chunks
    where chunks.bucket = sensors.bucket and chunks.series = sensors.series)
  where sealed > 0`;

/**
 * Opens a database that an installation is moved to. No service starts on it before the move has
 * ended. Throws UnusableStorageError when there is data already, or a move from another place that
 * broke off.
 */
export async function openMoveTarget(url: string, sourceName: string): Promise<MoveTarget> {
  let client: pg.Client | undefined;
  try {
    client = await connectWriter(url);
    await lockService(client, undefined, 'command');
    await migrate(client);
    await claim(client, sourceName);
    return createTarget(client);
  } catch (error) {
    client?.end().catch(() => undefined);
    throw unusable(error);
  }
}

function createTarget(client: pg.Client): MoveTarget {
  const session = sessionOn(client);
  const { progress, note } = createMoveProgress(session);
  let buckets: ReadonlyMap<number, number> | undefined;

  async function bucketsOfSeries(): Promise<ReadonlyMap<number, number>> {
    if (buckets !== undefined) return buckets;
    const rows = await session.all<{ series: number; bucket: number }>(
      'select series, bucket from sensors',
    );
    return new Map(rows.map(({ series, bucket }) => [series, bucket]));
  }

  async function put(table: MovedTable, page: MovedPage): Promise<void> {
    // Sensors come before all that has a series, and are all there by then.
    if (table.name === 'sensors') buckets = undefined;
    else buckets = await bucketsOfSeries();
    await inTransaction(client, async () => {
      await insertRows(session, table, page.rows, buckets ?? new Map());
      await note(table, page);
    });
  }

  return {
    put,
    ...readingPages(session),
    progress,
    async finish(secret) {
      await inTransaction(client, async () => {
        await session.run(setNewest);
        await continueNumbers(session, movedTables);
        await session.run(putSecret, secret);
        await client.query('drop table move_progress, move_from');
      });
      await client.query('analyze');
    },
    close: () => client.end(),
  };
}

/** Claims a database that is empty, or has a move from the same source. */
async function claim(client: pg.Client, sourceName: string): Promise<void> {
  const session = sessionOn(client);
  const { begin, requireSource } = createMoveProgress(session);
  const isMoving = await session.first<{ found: boolean }>(
    `select to_regclass(quote_ident(current_schema()) || '.move_from') is not null as found`,
  );
  if (isMoving?.found !== true) {
    await requireEmpty(session);
    await inTransaction(client, () => begin(sourceName));
  }
  await requireSource(
    sourceName,
    'a move from another place into this database broke off: end that one, or empty the database',
  );
}

async function requireEmpty(session: SqlSession): Promise<void> {
  const { count } = readingPages(session);
  for (const table of movedTables) {
    if ((await count(table)) === 0) continue;
    throw new UnusableStorageError(
      'the database that is to be moved to holds data already: name an empty one',
    );
  }
}
