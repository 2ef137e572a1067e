import type { DatabaseSync } from 'node:sqlite';
import { decodePushes } from '../../chunks/datapoint-log.ts';
import { type ChunkSizes, createChunkExamination } from '../../examination/chunk-examination.ts';
import { type Findings, restoreBackup } from '../../examination/finding.ts';
import type { Pace } from '../../examination/pace.ts';
import { createSummaryChecks } from './summary-checks.ts';
import { reasonOf } from './table-checks.ts';

/** Sizes that were read on the way through the chunks and the log. */
export interface DatapointSizes extends ChunkSizes {
  readonly logRows: number;
  readonly logBytes: number;
}

const rowsPerStep = 8;

const readChunks = `
  select id, series, min_time, max_time, count, datapoints from chunks
  where id > ? order by id limit ${rowsPerStep}`;
const inIndex = `
  select 1 from chunks indexed by chunks_by_time
  where series = ? and min_time = ? and max_time = ? and id = ? and count = ?`;
const readLog = `
  select seq, pushes from datapoint_log where seq > ? order by seq limit ${rowsPerStep}`;

type ChunkRow = readonly [
  id: number,
  series: number,
  minTime: number,
  maxTime: number,
  count: number,
  bytes: Uint8Array,
];

/** Reads every chunk and every row of the log, with their checksums. */
export async function checkDatapoints(
  database: DatabaseSync,
  options: { readonly now: number; readonly findings: Findings; readonly pace: Pace },
): Promise<DatapointSizes> {
  const { findings, pace } = options;
  const examination = createChunkExamination(options);
  const index = database.prepare(inIndex);
  const summaries = createSummaryChecks(database, findings);

  function checkChunk([id, series, minTime, maxTime, count, bytes]: ChunkRow): void {
    const blocks = examination.check({ id, series, minTime, maxTime, count, bytes });
    if (blocks !== undefined) summaries.check({ id, series }, blocks);
    if (index.get(series, minTime, maxTime, id, count) === undefined) {
      findings.add({
        level: 'damage',
        check: 'index of chunks',
        sentence: `Chunk ${id} of series ${series} is not found by its time.`,
        remedy: restoreBackup,
      });
    }
  }

  await walk<ChunkRow>(database, readChunks, { table: 'chunks', findings, pace }, checkChunk);
  summaries.finish();
  const log = await checkLog(database, { findings, pace });
  return { ...examination.sizes(), ...log };
}

async function checkLog(
  database: DatabaseSync,
  { findings, pace }: { readonly findings: Findings; readonly pace: Pace },
): Promise<{ readonly logRows: number; readonly logBytes: number }> {
  let [logRows, logBytes] = [0, 0];
  await walk<readonly [seq: number, pushes: Uint8Array]>(
    database,
    readLog,
    { table: 'datapoint_log', findings, pace },
    ([seq, pushes]) => {
      logRows += 1;
      logBytes += pushes.length;
      try {
        decodePushes(pushes);
      } catch (error) {
        findings.add({
          level: 'damage',
          check: 'log',
          sentence: `Row ${seq} of the log of datapoints cannot be read: ${reasonOf(error)}.`,
          remedy: 'Restore a backup; the next start sets the row aside and goes on without it.',
        });
      }
    },
  );
  return { logRows, logBytes };
}

/**
 * Reads a table a few rows at a time, each time as it is then: no writer has to wait. The rows of
 * one step and what `look` reads beside them are of one commit.
 */
async function walk<Row extends readonly [number, ...unknown[]]>(
  database: DatabaseSync,
  sql: string,
  options: { readonly table: string; readonly findings: Findings; readonly pace: Pace },
  look: (row: Row) => void,
): Promise<void> {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  let after = Number.MIN_SAFE_INTEGER;
  try {
    for (;;) {
      database.exec('begin');
      const rows = statement.all(after) as unknown as readonly Row[];
      for (const row of rows) {
        look(row);
        after = row[0];
      }
      database.exec('commit');
      if (rows.length === 0) return;
      await options.pace();
    }
  } catch (error) {
    options.findings.add({
      level: 'damage',
      check: 'pages',
      sentence: `The table ${options.table} cannot be read after ${after}: ${reasonOf(error)}.`,
      remedy: restoreBackup,
    });
  } finally {
    if (database.isTransaction) database.exec('rollback');
  }
}
