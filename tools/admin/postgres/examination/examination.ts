import { sqlStateOf } from '../../../../src/storage/postgres/failures.ts';
import { findLossySettings } from '../../../../src/storage/postgres/lossy-settings.ts';
import { readMigrations } from '../../../../src/storage/postgres/migrate.ts';
import { isServed } from '../../../../src/storage/postgres/service-lock.ts';
import { countRows, type SqlSession } from '../../../../src/storage/sql/session.ts';
import {
  type Checks,
  createFindings,
  createPace,
  deleteAside,
  type Findings,
} from '../../examination/checks.ts';
import {
  type ChunkSizes,
  type DiskUse,
  type Examination,
  growthOf,
  largestOf,
  measureWrites,
  type SizedPart,
  totalOf,
  warnOfSlow,
} from '../../examination/chunk-examination.ts';
import { checkRows } from '../../examination/row-checks.ts';
import { openForReading } from '../command-opening.ts';
import { checkAllSeries, checkStored } from './point-checks.ts';

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

const selectSettings = `
  select name, setting from pg_settings
  where name in ('data_checksums', 'autovacuum')`;
const selectDead = `
  select relname as name, n_dead_tup as dead, n_live_tup as live from pg_stat_user_tables
  where schemaname = current_schema() and n_dead_tup > 1000000 and n_dead_tup > 5 * n_live_tup`;

/** Whether the server keeps what it promised, and tidies up. */
export async function checkServer(session: SqlSession, findings: Findings): Promise<void> {
  const rows = await session.all<{ name: string; setting: string }>(selectSettings);
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const { setting, consequence, advice } of await findLossySettings(session)) {
    findings.warn('server', `The server runs with ${setting}: ${consequence}.`, advice);
  }
  if (settings.get('autovacuum') === 'off') {
    findings.warn(
      'server',
      'The server runs with autovacuum=off: tables grow with every change.',
      'Set autovacuum to on in the configuration of the server.',
    );
  }
  if (settings.get('data_checksums') === 'off') {
    findings.note(
      'server',
      'The server keeps no checksums of its pages: what a disk spoils may go unnoticed.',
      'Stop the server at the next occasion, and run pg_checksums --enable.',
    );
  }
  type Dead = { readonly name: string; readonly dead: number; readonly live: number };
  for (const { name, dead, live } of await session.all<Dead>(selectDead)) {
    findings.warn(
      'space',
      `The table ${name} has ${dead} dead rows beside ${live} live ones.`,
      'Look for a transaction that stays open for hours, in pg_stat_activity; then vacuum.',
    );
  }
}

/** Data or indexes that are corrupted, files that cannot be read, values that are none. */
const isOfStored = /^(XX|58|22)/;

/** The server's words for what it cannot read. Throws other errors: being away is no damage. */
function reasonOfDamage(error: unknown): string {
  const said = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(said instanceof Error) || !isOfStored.test(sqlStateOf(said) ?? '')) throw error;
  return said.message;
}

/** Tables that are walked row by row instead: they may be of any size. */
const walked = ['chunks'];

const selectKeys = `
  select conrelid::regclass::text as child, confrelid::regclass::text as parent,
    (select array_agg(quote_ident(attname) order by place) from unnest(conkey)
      with ordinality as key (number, place)
      join pg_attribute on attrelid = conrelid and attnum = number)::text[] as own,
    (select array_agg(quote_ident(attname) order by place) from unnest(confkey)
      with ordinality as key (number, place)
      join pg_attribute on attrelid = confrelid and attnum = number)::text[] as others
  from pg_constraint
  where contype = 'f' and connamespace = current_schema()::regnamespace
    and conrelid::regclass::text <> all ($1)
  order by 1, 2`;

interface KeyRow {
  readonly child: string;
  readonly parent: string;
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** Whether rows belong to rows that are there, also where the server was set not to check. */
export async function checkKeys({ session, findings, pace, reasonOf }: Checks): Promise<void> {
  const told = (sentence: string): void => findings.damage('orphans', sentence);
  for (const key of await session.all<KeyRow>(selectKeys, walked)) {
    const { child, parent } = key;
    try {
      const found = await session.first<{ n: number }>(countOrphans(key));
      if (found !== undefined && found.n > 0) {
        told(
          `${found.n} rows of the table ${child} belong to rows of ${parent} that are not there.`,
        );
      }
    } catch (error) {
      told(`The table ${child} cannot be held against ${parent}: ${reasonOf(error)}.`);
    }
    await pace();
  }
}

function countOrphans({ child, parent, own, others }: KeyRow): string {
  const columns = own.map((name) => `child.${name}`);
  const same = others.map((name, at) => `parent.${name} = ${columns[at]}`).join(' and ');
  const isSet = columns.map((name) => `${name} is not null`).join(' and ');
  return `
    select count(*) as n from ${child} as child
    where ${isSet} and not exists (select 1 from ${parent} as parent where ${same})`;
}
