import { existsSync } from 'node:fs';
import { loadConfigHere } from '../config/environment-file.ts';
import { invalid } from '../domain/errors.ts';
import { silentReporter } from '../domain/reporter.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLog } from '../lib/log.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { openStorage } from '../storage/open-storage.ts';
import { databasePath } from '../storage/sqlite/connection.ts';
import { makeDirectory } from '../storage/sqlite/make-directory.ts';
import type { Storage } from '../storage/storage.ts';

/** How a command is told which data directory it works on. */
export const dataDirOption = [
  '--data-dir <path>',
  'data directory, instead of KIPIMO_DATA_DIR',
] as const;

/** Which data directory a command works on. */
export interface DirectoryOption {
  readonly dataDir?: string;
}

/** The data directory that a command names, or that of the settings; throws where there is none. */
export function directoryOf(options: DirectoryOption): string {
  if (options.dataDir !== undefined) return options.dataDir;
  const { engine, directory } = loadConfigHere().config.storage;
  if (engine === 'sqlite') return directory;
  throw new Error('KIPIMO_DATABASE_URL names no SQLite database: name one with --data-dir');
}

/** The same where there is a database already: a mistyped directory must not become one. */
export function knownDirectoryOf(options: DirectoryOption): string {
  const directory = directoryOf(options);
  if (existsSync(databasePath(directory))) return directory;
  throw new Error(`${directory} holds no data of Kipimo: name its place with --data-dir`);
}

/** The same for a first start: a directory that is named is there, that of the settings is made. */
export function requirePlace(options: DirectoryOption): string {
  const directory = directoryOf(options);
  if (options.dataDir !== undefined && !existsSync(directory)) {
    throw invalid(`there is no directory ${directory}: make it, if the data shall be there`);
  }
  makeDirectory(directory);
  return directory;
}

/** Opens all stores of a data directory for some work; refuses while a service runs on it. */
export async function withStorage<Result>(
  directory: string,
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openStorage({
    kind: 'sqlite',
    directory,
    clock: systemClock,
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
