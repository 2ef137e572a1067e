import type pg from 'pg';
import { type Migration, migrationsBeside } from '../migrations.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { inTransaction, sessionOn } from './connection.ts';
import { spreadTables } from './parts.ts';
import { isServed } from './service-lock.ts';

/** The migrations that come with this program, in order. */
export const readMigrations = migrationsBeside(import.meta.url);

/** Others serve instead, gave this process up, or made the tables newer than it can use. */
export class FencedError extends UnusableStorageError {}

/** Up to which version this program knows the tables. */
export const newestTables = readMigrations().length;

/**
 * From which version on programs that know the tables may serve beside those of today: a migration
 * that takes away or changes what these use raises it.
 */
const usableFrom = 14;

/** Of our locks, the one for changing the tables; of those of this schema. */
const lock = `
  select pg_advisory_xact_lock(hashtext('kipimo migrations'), hashtext(current_schema()))`;

/**
 * Brings the tables to the newest version, all steps in one transaction; several processes that
 * start at once run one after the other. Throws UnusableStorageError for tables of another program,
 * of a newer version that does not let this one use them, and where processes serve that could not
 * go on beside the tables of today.
 */
export async function migrate(
  client: pg.Client,
  migrations: readonly Migration[] = readMigrations(),
  from = usableFrom,
): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(lock);
    const version = await versionOf(client);
    if (await canUse(client, version, migrations.length)) return;
    refuseUnknown(version, migrations.length, version === 0 ? await tableCount(client) : 0);
    await refuseBesideOlder(client, version, from);
    for (const step of migrations.slice(version)) await take(client, step);
    if (migrations.length >= versioned) {
      await client.query(`update schema_version set usable_from = greatest(usable_from, ${from})`);
      if (version === 0) await client.query(spreadTables);
    }
  });
}

/** The migration since which tables and members say who may use them. */
const versioned = 24;

/** Whether programs that know the tables up to `own` may use those of this version as they are. */
export async function canUse(client: pg.Client, version: number, own = newestTables) {
  if (version <= own || version < versioned) return version === own;
  const { rows } = await client.query('select usable_from from schema_version');
  return rows[0]?.usable_from !== null && rows[0]?.usable_from <= own;
}

/** Throws FencedError for tables of a version that this program cannot use. */
export async function refuseNewer(client: pg.Client): Promise<void> {
  const version = await versionOf(client);
  if (!(await canUse(client, version))) refuseUnknown(version, newestTables, 0);
}

/** Refuses where members serve that the tables leave behind; a killed one has no connection. */
async function refuseBesideOlder(client: pg.Client, version: number, from: number): Promise<void> {
  if (version < firstWithMembers || !(await isServed(sessionOn(client)))) return;
  // No process joins or commits until the migration is over. Any lock of rows would be one that
  // commits wait for which hold the table.
  await client.query('lock table writers in access exclusive mode');
  const columns = version < versioned ? 'null::text as program, null::integer as tables' : '*';
  const { rows } = await client.query(`
    select ${columns} from members where state = 'serving'
      and (backend is null or backend in (select pid from pg_stat_activity))`);
  const older = rows.filter(({ tables }) => (tables ?? Math.min(version, versioned - 1)) < from);
  if (older.length === 0) return;
  const programs = [...new Set(older.map(({ program }) => program || 'an older version'))];
  throw new UnusableStorageError(
    `processes of Kipimo that serve this database (${programs.join(', ')}) cannot go on beside ` +
      'the tables that this version makes: stop all of them first, then start this one',
  );
}

/** The migration that made the table of members, with the connections of these. */
const firstWithMembers = 11;

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
    throw new FencedError(
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
