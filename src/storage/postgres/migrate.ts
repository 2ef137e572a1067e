import type pg from 'pg';
import { type Migration, migrationsBeside } from '../migrations.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { inTransaction } from './connection.ts';

/** The migrations that come with this program, in order. */
export const readMigrations = migrationsBeside(import.meta.url);

/** Of our locks, the one for changing the tables; of those of this schema. */
const lock = `
  select pg_advisory_xact_lock(hashtext('kipimo migrations'), hashtext(current_schema()))`;

/**
 * Brings the tables to the newest version, all steps in one transaction; several processes that
 * start at once run one after the other. Throws UnusableStorageError for tables of a newer version
 * or of another program.
 */
export async function migrate(
  client: pg.Client,
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(lock);
    const version = await versionOf(client);
    refuseUnknown(version, migrations.length, version === 0 ? await tableCount(client) : 0);
    for (const step of migrations.slice(version)) await take(client, step);
  });
}

async function take(client: pg.Client, { version, name, sql }: Migration): Promise<void> {
  try {
    if (version === 1) await client.query('create table schema_version (version integer not null)');
    await client.query(sql);
    await client.query(
      version === 1
        ? 'insert into schema_version (version) values (1)'
        : `update schema_version set version = ${version}`,
    );
  } catch (error) {
    throw new UnusableStorageError(
      `the database could not be brought to version ${version} (${name}): ` +
        `${error instanceof Error ? error.message : String(error)}; nothing was changed`,
      error,
    );
  }
}

/** The version of the tables; 0: none yet. */
export async function versionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select to_regclass(quote_ident(current_schema()) || '.schema_version') is not null as there`,
  );
  if (!rows[0].there) return 0;
  return (await client.query('select version from schema_version')).rows[0]?.version ?? 0;
}

async function tableCount(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    'select count(*)::integer as n from pg_tables where schemaname = current_schema()',
  );
  return rows[0].n;
}

function refuseUnknown(version: number, newest: number, tables: number): void {
  if (version > newest) {
    throw new UnusableStorageError(
      `the database has version ${version}, and this kipimo knows versions up to ${newest}: ` +
        'install the newer kipimo again, or restore a backup made with this one',
    );
  }
  if (tables > 0) {
    throw new UnusableStorageError(
      'the database has tables of another program: create a database for Kipimo alone',
    );
  }
}

/** Throws UnusableStorageError for a database that an installation is being moved to. */
export async function refuseHalf(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select to_regclass(quote_ident(current_schema()) || '.move_from') is not null as half`,
  );
  if (!rows[0].half) return;
  throw new UnusableStorageError(
    'a move to this database broke off half-way: run kipimo move again, which goes on with it',
  );
}
