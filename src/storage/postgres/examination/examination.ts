import {
  type Checks,
  createFindings,
  createPace,
  deleteAside,
  type Findings,
} from '../../examination/checks.ts';
import {
  type ChunkSizes,
  growthOf,
  largestOf,
  type SizedPart,
  totalOf,
} from '../../examination/chunk-examination.ts';
import {
  type DiskUse,
  type Examination,
  measureWrites,
  warnOfSlow,
} from '../../examination/examination.ts';
import { checkRows } from '../../examination/row-checks.ts';
import { countRows, type SqlSession } from '../../sql/session.ts';
import { openForReading } from '../command-opening.ts';
import { readMigrations } from '../migrate.ts';
import { isServed } from '../service-lock.ts';
import { checkAllSeries, checkStored } from './point-checks.ts';
import { checkKeys, checkServer, reasonOfDamage } from './server-checks.ts';

/**
 * Examines all that is stored in a database, beside a service or without one. It changes no table,
 * reads a few rows at a time with rests in between, and no process waits for it. Throws
 * UnusableStorageError when there is nothing that it could examine.
 */
export async function examine(options: {
  readonly url: string;
  readonly now: number;
  /** How many commits are made to measure how long one takes. */
  readonly syncsMax: number;
  readonly onStage: (stage: string) => void;
}): Promise<Examination> {
  const { url, now, syncsMax, onStage } = options;
  await using opened = new AsyncDisposableStack();
  const reader = await openForReading(url);
  opened.defer(() => reader.close());
  const findings = createFindings();
  const checks: Checks = {
    ...{ session: reader, findings, pace: createPace(), reasonOf: reasonOfDamage },
  };
  const isInUse = await isServed(reader);
  onStage('checking the server and tables');
  await checkServer(reader, findings);
  await checkKeys(checks);
  await checkRows(checks);
  onStage('checking datapoints');
  const { sizes, hotRows } = await checkStored({ ...checks, now });
  await checkAllSeries(checks);
  await tellAside(reader, findings);
  onStage('measuring commits');
  const syncs = await measureWrites(() => commitOn(reader), syncsMax);
  warnOfSlow(syncs, 'commit', findings, fasterCommits);
  const { chunks, datapoints } = totalOf(sizes);
  return {
    findings: findings.all(),
    isInUse,
    version: readMigrations().length,
    chunks,
    datapointsInChunks: datapoints,
    logRows: hotRows,
    disk: await useOf(reader, sizes),
    syncs,
    largest: await largestOf(reader, sizes, await tablesOf(reader)),
  };
}

/** Writes a message to the write-ahead log, which a commit syncs; no row changes. */
async function commitOn(session: SqlSession): Promise<void> {
  await session.all(`select pg_logical_emit_message(true, 'kipimo doctor', '')::text`);
}

const selectTables = `
  select relname as name, pg_total_relation_size(oid) as bytes from pg_class
  where relkind = 'r' and relnamespace = current_schema()::regnamespace`;
const sumTables = `select coalesce(sum(bytes), 0) as bytes from (${selectTables}) as tables`;
const sizeOfChunks = `
  select pg_total_relation_size((quote_ident(current_schema()) || '.chunks')::regclass) as bytes`;

const tablesOf = (session: SqlSession): Promise<readonly SizedPart[]> =>
  session.all<SizedPart>(selectTables);

async function useOf(session: SqlSession, sizes: ChunkSizes): Promise<DiskUse> {
  const all = (await session.first<{ bytes: number }>(sumTables))?.bytes ?? 0;
  const inChunks = (await session.first<{ bytes: number }>(sizeOfChunks))?.bytes ?? 0;
  return { databaseBytes: all, ...growthOf(sizes, inChunks) };
}

async function tellAside(session: SqlSession, findings: Findings): Promise<void> {
  const rows = await countRows(session, 'damaged_points');
  if (rows === 0) return;
  findings.warn(
    'set aside',
    `${rows} rows of datapoints could not be read and were set aside in damaged_points.`,
    deleteAside,
  );
}

const fasterCommits =
  'Give the server a faster disk and a standby nearby, or bring it nearer to the service.';
