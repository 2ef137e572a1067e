import { existsSync } from 'node:fs';
import { loadConfigHere } from '../../src/config/environment-file.ts';
import { invalid } from '../../src/domain/errors.ts';
import { silentReporter } from '../../src/domain/reporter.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { formatTimestamp } from '../../src/lib/timestamp.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { databasePath } from '../../src/storage/sqlite/connection.ts';
import { makeDirectory } from '../../src/storage/sqlite/durable-file.ts';
import type { Storage, StoragePlace } from '../../src/storage/storage.ts';

/** Which data directory a command works on. */
export interface DirectoryOption {
  readonly dataDir?: string;
}

/** The data directory that a command names, or that of the settings; throws where there is none. */
export function directoryOf(options: DirectoryOption): string {
  const place = placeOf(options);
  if (place.kind === 'sqlite') return place.directory;
  throw new Error(
    'KIPIMO_DATABASE_URL names a PostgreSQL database, and this command works on a data ' +
      'directory: name one with --data-dir',
  );
}

/** The same where there is a database already: a mistyped directory must not become one. */
export function knownDirectoryOf(options: DirectoryOption): string {
  const directory = directoryOf(options);
  requireKnown({ kind: 'sqlite', directory });
  return directory;
}

/** Where the data is: in the directory that a command names, or where the settings say. */
export function placeOf(options: DirectoryOption): StoragePlace {
  if (options.dataDir !== undefined) return { kind: 'sqlite', directory: options.dataDir };
  const { config, secrets } = loadConfigHere();
  const { databaseUrl: url } = secrets;
  if (url !== undefined) return { kind: 'postgres', url };
  return { kind: 'sqlite', directory: config.storage.directory };
}

/** The same where there is data already, as far as a check of files says. */
export function knownPlaceOf(options: DirectoryOption): StoragePlace {
  const place = placeOf(options);
  requireKnown(place);
  return place;
}

function requireKnown(place: StoragePlace): void {
  if (place.kind !== 'sqlite' || existsSync(databasePath(place.directory))) return;
  throw new Error(`${place.directory} holds no data of Kipimo: name its place with --data-dir`);
}

/** A place for a first start: a directory that is named is there, that of the settings is made. */
export function requirePlace(options: DirectoryOption): StoragePlace {
  const place = placeOf(options);
  if (place.kind === 'sqlite') requireDirectory(options);
  return place;
}

/** The same, of a data directory alone. */
export function requireDirectory(options: DirectoryOption): string {
  const directory = directoryOf(options);
  if (options.dataDir !== undefined && !existsSync(directory)) {
    throw invalid(`there is no directory ${directory}: make it, if the data shall be there`);
  }
  makeDirectory(directory);
  return directory;
}

/** Names a place in reports, never with a password. */
export const placeName = (place: StoragePlace): string =>
  place.kind === 'sqlite' ? place.directory : 'the database of KIPIMO_DATABASE_URL';

/** Opens all stores of a place for some work; refuses while a service runs on it. */
export async function withStorage<Result>(
  place: StoragePlace,
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openStorage({
    directory: '',
    ...place,
    log: silentLog,
    reporter: silentReporter,
  });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** A name for what was in a data directory before a command replaced it. */
export const asideName = (command: string): string =>
  `before-${command}-${formatTimestamp(systemClock.now()).replaceAll(/[:.]/g, '-')}`;
