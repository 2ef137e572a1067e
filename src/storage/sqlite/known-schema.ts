import { DatabaseSync } from 'node:sqlite';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { readMigrations, versionOf } from './migrate.ts';

/** Tables that commands make beside those of the migrations. */
const besides = new Set(['backup_files', 'move_from', 'move_progress']);
const listObjects = 'select type, name, sql from sqlite_schema order by type, name';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/**
 * Refuses a file with a trigger, view, table or index that this program did not make: SQLite would
 * run it with every write of the service.
 */
export function refuseForeignObjects(database: DatabaseSync, file: string): void {
  const version = versionOf(database);
  if (version < 1) {
    throw new UnusableStorageError(
      `${file} has user_version ${version}, which kipimo never writes: choose another backup`,
    );
  }
  const known = schemaOf(version);
  for (const { type, name, sql } of objectsOf(database)) {
    const text = known.get(`${type} ${name}`);
    const isData = (type === 'table' && !isVirtual(sql)) || type === 'index';
    if (isData && (text !== undefined || besides.has(name) || name.startsWith('sqlite_'))) continue;
    if (text !== undefined && text === sql) continue;
    throw new UnusableStorageError(
      `${file} has the ${type} ${JSON.stringify(name)}, which kipimo ` +
        `${text === undefined ? 'does not have' : 'has in other words'}: choose another backup, ` +
        'one that nobody has changed',
    );
  }
}

const isVirtual = (sql: string | null): boolean => /^\s*create\s+virtual\b/i.test(sql ?? '');

const objectsOf = (database: DatabaseSync) =>
  database.prepare(listObjects).all() as unknown as readonly SchemaObject[];

/** The objects of the tables of a version, by type and name. */
function schemaOf(version: number): ReadonlyMap<string, string | null> {
  using model = new DatabaseSync(':memory:');
  for (const { sql } of readMigrations().slice(0, version)) model.exec(sql);
  return new Map(objectsOf(model).map(({ type, name, sql }) => [`${type} ${name}`, sql]));
}
