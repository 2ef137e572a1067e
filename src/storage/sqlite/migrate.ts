import type { DatabaseSync } from 'node:sqlite';
import { oldFormat, oldFormatAdvice } from '../chunks/chunk.ts';
import { type Migration, migrationsBeside } from '../migrations.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { pragmaNumber } from './connection.ts';

/** The migrations that come with this program, in order. */
export const readMigrations = migrationsBeside(import.meta.url);

/** The version of the tables in the database; 0: none yet. */
export const versionOf = (database: DatabaseSync): number => pragmaNumber(database, 'user_version');

/** Brings the tables to the newest version, one transaction per step; refuses unknown ones. */
export function migrate(
  database: DatabaseSync,
  path: string,
  migrations: readonly Migration[] = readMigrations(),
): void {
  refuseUnknown(database, path, migrations);
  for (const migration of migrations) {
    if (versionOf(database) >= migration.version) continue;
    database.exec('begin immediate');
    try {
      // Asked again inside the transaction: another process may have been faster.
      if (versionOf(database) < migration.version) {
        database.exec(migration.sql);
        database.exec(`pragma user_version = ${migration.version}`);
      }
      database.exec('commit');
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw new UnusableStorageError(
        `${path} could not be brought to version ${migration.version} (${migration.name}): ` +
          `${error instanceof Error ? error.message : String(error)}; nothing was changed`,
        error,
      );
    }
  }
}

/** Programs that bring a database to this version or a later one have written format 2 alone. */
const formatKnownSince = 24;
const findOldFormat = `select 1 from chunks where hex(substr(datapoints, 1, 1)) = '0${oldFormat}'`;

/** Refuses tables that a newer kipimo or another program made, and chunks that it cannot read. */
export function refuseUnknown(
  database: DatabaseSync,
  path: string,
  migrations: readonly Migration[],
): void {
  const version = versionOf(database);
  const newest = migrations.length;
  if (version > newest) {
    throw new UnusableStorageError(
      `${path} has version ${version}, and this kipimo knows versions up to ${newest}: ` +
        'install the newer kipimo again, or restore a backup made with this one',
    );
  }
  if (version === 0 && tableCount(database) > 0) {
    throw new UnusableStorageError(
      `${path} is a SQLite database of another program: ` +
        'move it away, or set KIPIMO_DATA_DIR to another directory',
    );
  }
  if (version < formatKnownSince && hasChunks(database)) {
    const found = database.prepare(`${findOldFormat} limit 1`).get();
    if (found !== undefined) throw new UnusableStorageError(`${path} has ${oldFormatAdvice}`);
  }
}

function hasChunks(database: DatabaseSync): boolean {
  const find = "select 1 from sqlite_schema where type = 'table' and name = 'chunks'";
  return database.prepare(find).get() !== undefined;
}

function tableCount(database: DatabaseSync): number {
  return Number(database.prepare('select count(*) as n from sqlite_schema').get()?.['n']);
}
