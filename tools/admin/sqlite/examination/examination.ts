import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openConnection } from '../../../../src/storage/sqlite/connection.ts';
import { requireOrdinaryFiles } from '../../../../src/storage/sqlite/data-files.ts';
import {
  readMigrations,
  refuseUnknown,
  versionOf,
} from '../../../../src/storage/sqlite/migrate.ts';
import {
  createSession,
  describeFailure,
  resultCodeOf,
} from '../../../../src/storage/sqlite/session.ts';
import {
  type Checks,
  createFindings,
  createPace,
  deleteAside,
  type Findings,
  type Pace,
} from '../../examination/checks.ts';
import {
  type Examination,
  largestOf,
  type SizedPart,
  type SyncRate,
  totalOf,
} from '../../examination/chunk-examination.ts';
import { checkRows } from '../../examination/row-checks.ts';
import { presentDatabase } from '../present-database.ts';
import { checkAllSeries, checkDatapoints, type DatapointSizes } from './chunk-checks.ts';
import { judgeDisk, measureDisk, measureSyncs } from './disk-checks.ts';

/**
 * Examines all that is stored in a data directory, beside a service or without one. It reads and
 * never writes, a few rows at a time with rests in between; no writer waits for it. Throws
 * UnusableStorageError when there is nothing to examine.
 */
export async function examine(options: {
  readonly directory: string;
  readonly now: number;
  /** Free space below which pushes are refused. */
  readonly floorBytes: number;
  /** How many writes are synced to measure the disk. */
  readonly syncsMax: number;
  readonly onStage: (stage: string) => void;
}): Promise<Examination> {
  const { directory, now, floorBytes, syncsMax, onStage } = options;
  requireOrdinaryFiles(directory, { isWritten: false });
  const path = presentDatabase(directory);
  const findings = createFindings();
  const pace = createPace();
  const isInUse = isLocked(directory);
  using database = openConnection(path, { role: 'read' });
  refuseUnknown(database, path, readMigrations());
  const version = versionOf(database);
  const checks = checksOf(database, { findings, pace });
  onStage('checking tables');
  await checkTables(database, { ...checks, isAlone: !isInUse });
  if (version === readMigrations().length) await checkRows(checks);
  onStage('checking datapoints');
  const sizes = await checkStored({ ...checks, now }, tablesOf(database));
  onStage('measuring the disk');
  const syncs = await syncsOf(directory, syncsMax, findings);
  const disk = measureDisk(database, { directory, sizes, floorBytes });
  judgeDisk(database, { disk, syncs, floorBytes, findings });
  const tables = await sizesOrNone(database, pace);
  tellAside(database, findings);
  tellVersion(version, findings);
  const { chunks, datapoints: datapointsInChunks } = totalOf(sizes);
  return {
    findings: findings.all(),
    isInUse,
    version,
    chunks,
    datapointsInChunks,
    logRows: sizes.logRows,
    disk,
    ...(syncs !== undefined && { syncs }),
    largest: await largestOf(checks.session, sizes, [
      ...tables,
      { name: 'chunks', bytes: sizes.chunkBytes },
      { name: 'datapoint_log', bytes: sizes.logBytes },
    ]),
  };
}

/** The checks of this connection: nothing else uses it. */
const checksOf = (database: DatabaseSync, others: Pick<Checks, 'findings' | 'pace'>): Checks => ({
  ...others,
  session: createSession(database),
  reasonOf,
  async inSnapshot(step) {
    database.exec('begin');
    try {
      await step();
    } finally {
      if (database.isTransaction) database.exec('rollback');
    }
  },
});

const damagedCodes = new Set([11, 26]);

/** Whether an examination was refused since the file is damaged as a whole. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  (damagedCodes.has(resultCodeOf(error) ?? 0) || damagedCodes.has(resultCodeOf(error.cause) ?? 0));

const busy = 5;

/** Asks whether a process has the lock; takes nothing. */
function isLocked(directory: string): boolean {
  const path = join(directory, 'kipimo.lock');
  if (!existsSync(path)) return false;
  using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    return resultCodeOf(error) === busy;
  }
}

const nothing: DatapointSizes = {
  series: new Map(),
  lastDay: 0,
  lastWeek: 0,
  chunkBytes: 0,
  logRows: 0,
  logBytes: 0,
};

async function checkStored(
  checks: Checks & { readonly now: number },
  tables: readonly string[],
): Promise<DatapointSizes> {
  try {
    const sizes = await checkDatapoints(checks, tables);
    await checkAllSeries(checks, tables);
    return sizes;
  } catch (error) {
    const sentence = `Datapoints cannot be read: ${reasonOf(error)}.`;
    checks.findings.damage('datapoints', sentence, 'Restore a backup.');
    return nothing;
  }
}

async function syncsOf(
  directory: string,
  syncsMax: number,
  findings: Findings,
): Promise<SyncRate | undefined> {
  try {
    return await measureSyncs(directory, syncsMax);
  } catch (error) {
    findings.warn(
      'syncs',
      `The data directory takes no file: ${reasonOf(error)}.`,
      'Run this as the user of the service, and make room on the disk if it is full.',
    );
    return undefined;
  }
}

/** Sizes of a damaged file may be unreadable; the damage was reported before. */
async function sizesOrNone(database: DatabaseSync, pace: Pace) {
  try {
    return await sizesOf(database, pace);
  } catch {
    return [];
  }
}

function tellAside(database: DatabaseSync, findings: Findings): void {
  const there = new Set(tablesOf(database));
  for (const [table, what] of [
    ['damaged_chunks', 'chunks of datapoints'],
    ['damaged_log_rows', 'rows of the log of datapoints'],
  ] as const) {
    if (!there.has(table)) continue;
    const count = countOf(database, table, findings);
    if (count === 0) continue;
    findings.warn(
      'set aside',
      `${count} ${what} could not be read and were set aside in the table ${table}.`,
      deleteAside,
    );
  }
}

/** A table that cannot be counted is damaged, and counts as empty. */
function countOf(database: DatabaseSync, table: string, findings: Findings): number {
  try {
    return Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n']);
  } catch (error) {
    findings.damage('pages', `The table ${table} cannot be read: ${reasonOf(error)}.`);
    return 0;
  }
}

function tellVersion(version: number, findings: Findings): void {
  const newest = readMigrations().length;
  if (version === newest) return;
  findings.note(
    'version',
    `The tables have version ${version}; this program brings them to ${newest}.`,
    'Back up, then start the service once.',
  );
}

/** Tables that are walked row by row instead: they may be of any size. */
const walked = new Set(['chunks', 'datapoint_log']);

const listTables = `
  select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`;

/** The tables of a database, but for those of SQLite. */
export const tablesOf = (database: DatabaseSync): readonly string[] =>
  database
    .prepare(listTables)
    .all()
    .map(({ name }) => String(name));

/** Pages, indexes and keys to other tables. A database that is not in use is checked as a whole. */
async function checkTables(
  database: DatabaseSync,
  { isAlone, findings, pace }: Checks & { readonly isAlone: boolean },
): Promise<void> {
  const found = (sentence: string): void => findings.damage('pages', sentence);

  function check(pragma: string): void {
    try {
      for (const row of database.prepare(`pragma ${pragma}`).all()) {
        const said = String(Object.values(row)[0]);
        if (said !== 'ok') found(`The database file is damaged: ${said}.`);
      }
    } catch (error) {
      found(`The database file cannot be read: ${reasonOf(error)}.`);
    }
  }

  if (isAlone) check('integrity_check(20)');
  for (const table of [...tablesOf(database), 'sqlite_sequence']) {
    if (walked.has(table)) continue;
    if (!isAlone) check(`integrity_check("${table}")`);
    await pace();
    checkKeys(database, table, findings);
    await pace();
  }
}

function checkKeys(database: DatabaseSync, table: string, findings: Findings): void {
  try {
    const orphans = database.prepare(`pragma foreign_key_check("${table}")`).all();
    if (orphans.length === 0) return;
    const parents = [...new Set(orphans.map(({ parent }) => String(parent)))].join(', ');
    const belong = `${orphans.length} rows of the table ${table} belong to rows of ${parents}`;
    findings.damage('orphans', `${belong} that are not there.`);
  } catch {
    // Unreadable tables were reported by the check of their pages.
  }
}

/** Bytes of tables in the file, indexes included; walked tables are counted on the walk. */
async function sizesOf(database: DatabaseSync, pace: Pace): Promise<readonly SizedPart[]> {
  const sizeOf = database.prepare('select sum(pgsize) as bytes from dbstat where name = ?');
  const indexesOf = database.prepare(
    "select name from sqlite_schema where type = 'index' and tbl_name = ?",
  );
  const sizes: SizedPart[] = [];
  for (const table of tablesOf(database)) {
    if (walked.has(table)) continue;
    let bytes = 0;
    for (const name of [table, ...indexesOf.all(table).map((index) => String(index['name']))]) {
      bytes += Number(sizeOf.get(name)?.['bytes'] ?? 0);
      await pace();
    }
    sizes.push({ name: table, bytes });
  }
  return sizes;
}

/** The message of the machine or SQLite, for a sentence. */
export function reasonOf(error: unknown): string {
  return describeFailure(error) ?? (error instanceof Error ? error.message : String(error));
}
