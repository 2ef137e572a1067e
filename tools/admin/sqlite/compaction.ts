import { closeSync, openSync, statfsSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { runAtOnce } from '../../../src/storage/chunks/engine-work.ts';
import {
  createPrivately,
  openConnection,
  pragmaNumber,
} from '../../../src/storage/sqlite/connection.ts';
import { lockDirectory } from '../../../src/storage/sqlite/directory-lock.ts';
import { putDurably } from '../../../src/storage/sqlite/durable-file.ts';
import { readMigrations, refuseUnknown } from '../../../src/storage/sqlite/migrate.ts';
import {
  removeCompactionRest,
  unfinishedCompaction,
} from '../../../src/storage/sqlite/replacement.ts';
import { describeFailure } from '../../../src/storage/sqlite/session.ts';
import { sqliteLimits } from '../../../src/storage/sqlite/sqlite-limits.ts';
import { createChunkRenewal } from '../../../src/storage/sqlite/timeseries/chunk-renewal.ts';
import { datapointLimits } from '../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import { UnusableStorageError } from '../../../src/storage/unusable-storage-error.ts';
import { presentDatabase } from './present-database.ts';

/** The outcome of a compaction, in bytes of the database file. */
export interface Compaction {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Of those before: pages that nothing was in. */
  readonly freeBefore: number;
}

/**
 * Writes the database of a data directory anew into a file beside it, in which pages are full and
 * free ones go back to the disk from then on, and puts that in its place. Whenever this ends,
 * killed or not, the old file or the new one is whole and in place; what else is left goes with
 * the next lock. Throws UnusableStorageError where a service or another command uses the
 * directory, the disk has no space for the second file, or the database is damaged.
 */
export function compact(directory: string): Compaction {
  const path = presentDatabase(directory);
  const lock = lockDirectory(directory);
  // Not to be closed before the end: that would end the locks of SQLite on the file (POSIX).
  const old = openSync(path, 'r+');
  try {
    using source = openAlone(path);
    const before = sizeOf(source);
    requireRoom(directory, before.bytes - before.freeBytes);
    const made = unfinishedCompaction(directory);
    writeAnew(source, made);
    const bytesAfter = statSync(made).size;
    putDurably(made, path);
    // A command that waits for the old file must not write into it any more, nor make a log
    // of its name: it finds no database in it.
    writeSync(old, Buffer.alloc(16), 0, 16, 0);
    return { bytesBefore: before.bytes, bytesAfter, freeBefore: before.freeBytes };
  } finally {
    closeSync(old);
    removeCompactionRest(directory);
    lock.release();
  }
}

/** The database with everything in one file, which no other process uses until it closes. */
function openAlone(path: string): DatabaseSync {
  const database = openConnection(path, { role: 'write' });
  try {
    refuseUnknown(database, path, readMigrations());
    // Refused as long as another process has it open.
    const mode = database.prepare('pragma journal_mode = delete').get()?.['journal_mode'];
    if (mode !== 'delete') throw new Error('another command uses it');
    database.exec('pragma main.locking_mode = exclusive; begin exclusive; commit');
    return database;
  } catch (error) {
    database.close();
    throw asUnusable(error, `${path} cannot be compacted`);
  }
}

function sizeOf(database: DatabaseSync): { readonly bytes: number; readonly freeBytes: number } {
  const pageBytes = pragmaNumber(database, 'page_size');
  return {
    bytes: pragmaNumber(database, 'page_count') * pageBytes,
    freeBytes: pragmaNumber(database, 'freelist_count') * pageBytes,
  };
}

function requireRoom(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const room = bavail * bsize;
  const needed = bytes + sqliteLimits.compactRoomBytes;
  if (room >= needed) return;
  const mebibytes = (count: number): string => (count / 1_048_576).toFixed(0);
  throw new UnusableStorageError(
    `compacting needs ${mebibytes(needed)} MiB for a second file beside the first, and the disk ` +
      `has ${mebibytes(room)} MiB: make room, or restore a backup on a larger disk`,
  );
}

function writeAnew(source: DatabaseSync, path: string): void {
  createPrivately(path);
  try {
    source.prepare('vacuum into ?').run(path);
    // Keys to nothing stay as they were: mending them is not asked for.
    using made = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    requireSameRows(source, made);
    if (hasSummaries(made)) packChunks(made);
    const [check] = made.prepare('pragma integrity_check(1)').all();
    if (check?.['integrity_check'] !== 'ok') throw new Error(String(check?.['integrity_check']));
  } catch (error) {
    throw asUnusable(error, `${path} could not be written, and nothing was changed`);
  }
}

/** Chunks of versions before the first release are packed once a service brought them here. */
const hasSummaries = (database: DatabaseSync): boolean =>
  database.prepare("select 1 from sqlite_schema where name = 'chunk_summaries'").get() !==
  undefined;

/**
 * Renews chunks, all with summaries made anew, in one transaction. No other process knows the file
 * yet, and it is thrown away if this ends half-way.
 */
function packChunks(made: DatabaseSync): void {
  const countOf = () => made.prepare('select sum(count) as n from chunks').get()?.['n'];
  const before = countOf();
  made.exec('pragma journal_mode = off; pragma synchronous = off; begin');
  made.exec('delete from chunk_summaries where chunk in (select id from chunks)');
  runAtOnce(createChunkRenewal(made, datapointLimits, (work) => work()).walk());
  made.exec('commit');
  if (countOf() !== before) throw new Error('datapoints went missing while chunks were rewritten');
  made.exec('pragma incremental_vacuum');
}

function requireSameRows(source: DatabaseSync, made: DatabaseSync): void {
  const tables = source
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all();
  for (const { name } of tables) {
    const count = `select count(*) as n from "${String(name)}"`;
    const [before, after] = [source, made].map((database) => database.prepare(count).get()?.['n']);
    if (before !== after) throw new Error(`${String(name)} has ${after} rows instead of ${before}`);
  }
}

function asUnusable(error: unknown, what: string): UnusableStorageError {
  if (error instanceof UnusableStorageError) return error;
  const reason = describeFailure(error) ?? (error instanceof Error ? error.message : String(error));
  return new UnusableStorageError(`${what}: ${reason}`, error);
}
