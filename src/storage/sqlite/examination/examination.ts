import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { totalOf } from '../../examination/chunk-examination.ts';
import type { Examination, SyncRate } from '../../examination/examination.ts';
import { createFindings, type Findings, restoreBackup } from '../../examination/finding.ts';
import { largestOf, type NamedSize } from '../../examination/largest.ts';
import { createPace, type Pace } from '../../examination/pace.ts';
import { checkRows } from '../../examination/row-checks.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { databasePath, openConnection } from '../connection.ts';
import { requireOrdinaryFiles } from '../data-files.ts';
import { resultCodeOf } from '../failures.ts';
import { readMigrations, refuseUnknown, versionOf } from '../migrate.ts';
import { createSession } from '../session.ts';
import { checkDatapoints, type DatapointSizes } from './chunk-checks.ts';
import { judgeDisk, measureDisk } from './disk-checks.ts';
import { checkSeries } from './series-checks.ts';
import { measureSyncs } from './sync-rate.ts';
import { checkTables, reasonOf, sizesOf, tablesOf } from './table-checks.ts';

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
  const path = databasePath(directory);
  if (!existsSync(path)) {
    throw new UnusableStorageError(`there is no database in ${directory}: set KIPIMO_DATA_DIR`);
  }
  const findings = createFindings();
  const pace = createPace();
  const isInUse = isLocked(directory);
  using database = openConnection(path, { role: 'read' });
  refuseUnknown(database, path, readMigrations());
  const version = versionOf(database);
  onStage('checking tables');
  await checkTables(database, { isAlone: !isInUse, findings, pace });
  await checkUnderstood(database, { version, findings, pace });
  onStage('checking datapoints');
  const sizes = await checkStored(database, { now, findings, pace });
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
    largest: largestOf(namesOf(database, sizes), [
      ...tables,
      { name: 'chunks', bytes: sizes.chunkBytes },
      { name: 'datapoint_log', bytes: sizes.logBytes },
    ]),
  };
}

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

/** Checks rows of the present version; a table that cannot be read was reported before. */
async function checkUnderstood(
  database: DatabaseSync,
  { version, ...checks }: { version: number; findings: Findings; pace: Pace },
): Promise<void> {
  if (version !== readMigrations().length) return;
  try {
    await checkRows(createSession(database), checks);
  } catch (error) {
    const sentence = `Rows cannot be read: ${reasonOf(error)}.`;
    checks.findings.add({ level: 'damage', check: 'pages', sentence, remedy: restoreBackup });
  }
}

async function checkStored(
  database: DatabaseSync,
  options: { readonly now: number; readonly findings: Findings; readonly pace: Pace },
): Promise<DatapointSizes> {
  try {
    const sizes = await checkDatapoints(database, options);
    await checkSeries(database, options);
    return sizes;
  } catch (error) {
    const sentence = `Datapoints cannot be read: ${reasonOf(error)}.`;
    const remedy = 'Restore a backup.';
    options.findings.add({ level: 'damage', check: 'datapoints', sentence, remedy });
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
    findings.add({
      level: 'warning',
      check: 'syncs',
      sentence: `The data directory takes no file: ${reasonOf(error)}.`,
      remedy: 'Run this as the user of the service, and make room on the disk if it is full.',
    });
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

const nameSeries = 'select device_id, sensor_id from sensors where series = ?';

/** The sizes of series that have a sensor, with its ids. */
function* namesOf(database: DatabaseSync, { series }: DatapointSizes): Iterable<NamedSize> {
  const find = database.prepare(nameSeries);
  for (const [number, size] of series) {
    const row = find.get(number);
    if (row === undefined) continue;
    yield { ...size, deviceId: String(row['device_id']), sensorId: String(row['sensor_id']) };
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
    findings.add({
      level: 'warning',
      check: 'set aside',
      sentence: `${count} ${what} could not be read and were set aside in the table ${table}.`,
      remedy: 'Restore a backup to have them back, or delete them from the table to do without.',
    });
  }
}

/** A table that cannot be counted is damaged, and counts as empty. */
function countOf(database: DatabaseSync, table: string, findings: Findings): number {
  try {
    return Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n']);
  } catch (error) {
    const sentence = `The table ${table} cannot be read: ${reasonOf(error)}.`;
    findings.add({ level: 'damage', check: 'pages', sentence, remedy: restoreBackup });
    return 0;
  }
}

function tellVersion(version: number, findings: Findings): void {
  const newest = readMigrations().length;
  if (version === newest) return;
  findings.add({
    level: 'note',
    check: 'version',
    sentence: `The tables have version ${version}; this program brings them to ${newest}.`,
    remedy: 'Back up, then start the service once.',
  });
}
