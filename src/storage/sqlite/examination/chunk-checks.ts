import type { DatabaseSync } from 'node:sqlite';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import { blocksOf, columnsOf } from '../../chunks/chunk.ts';
import type { Columns } from '../../chunks/columns.ts';
import { decodePushes } from '../../chunks/datapoint-log.ts';
import type { Pace } from '../../pace.ts';
import { type Findings, restoreBackup } from './finding.ts';
import { createSummaryChecks } from './summary-checks.ts';
import { reasonOf } from './table-checks.ts';

/** What the chunks of one series come to. */
export interface SeriesSize {
  chunks: number;
  datapoints: number;
  bytes: number;
}

/** What was read on the way through the chunks and the log. */
export interface DatapointSizes {
  readonly series: ReadonlyMap<number, SeriesSize>;
  /** Datapoints in chunks whose time is within the last day, and the last seven. */
  readonly lastDay: number;
  readonly lastWeek: number;
  readonly chunkBytes: number;
  readonly logRows: number;
  readonly logBytes: number;
}

const rowsPerStep = 8;
const dayMs = 86_400_000;
/** Beside its datapoints a chunk takes this in its row and in the index, about. */
const rowBytes = 60;

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
  const { now, findings, pace } = options;
  const series = new Map<number, SeriesSize>();
  let [lastDay, lastWeek, chunkBytes] = [0, 0, 0];
  const index = database.prepare(inIndex);
  const summaries = createSummaryChecks(database, findings);

  function checkChunk([id, number, minTime, maxTime, count, bytes]: ChunkRow): void {
    const size = series.get(number) ?? { chunks: 0, datapoints: 0, bytes: 0 };
    series.set(number, size);
    size.chunks += 1;
    size.datapoints += count;
    size.bytes += bytes.length + rowBytes;
    chunkBytes += bytes.length + rowBytes;
    lastDay += count * shareAfter(now - dayMs, minTime, maxTime, now);
    lastWeek += count * shareAfter(now - 7 * dayMs, minTime, maxTime, now);
    const { wrong, blocks } = readWhole(id, { minTime, maxTime, count, bytes });
    if (wrong === undefined) {
      summaries.check({ id, series: number }, blocks);
    } else {
      findings.add({
        level: 'damage',
        check: 'chunks',
        sentence: `${count} datapoints of series ${number} cannot be trusted: ${wrong}.`,
        remedy: restoreBackup,
      });
    }
    if (index.get(number, minTime, maxTime, id, count) === undefined) {
      findings.add({
        level: 'damage',
        check: 'index of chunks',
        sentence: `Chunk ${id} of series ${number} is not found by its time.`,
        remedy: restoreBackup,
      });
    }
  }

  await walk<ChunkRow>(database, readChunks, { table: 'chunks', findings, pace }, checkChunk);
  summaries.finish();
  const log = await checkLog(database, { findings, pace });
  return { series, lastDay, lastWeek, chunkBytes, ...log };
}

/** The datapoints of a chunk, block by block, or what is wrong with it. */
function readWhole(
  id: number,
  row: {
    readonly minTime: number;
    readonly maxTime: number;
    readonly count: number;
    readonly bytes: Uint8Array;
  },
): { readonly wrong?: string; readonly blocks: readonly Columns[] } {
  const blocks: Columns[] = [];
  const fault = (wrong: string) => ({ wrong, blocks });
  try {
    let [seen, latest] = [0, row.minTime];
    for (const block of blocksOf(row.bytes, String(id))) {
      const columns = columnsOf(block, String(id));
      blocks.push(columns);
      const { count, times } = columns;
      if (seen === 0 && times[0] !== row.minTime)
        return fault(`chunk ${id} begins at another time`);
      for (const time of times) {
        if (time < latest) return fault(`the times in chunk ${id} are not in order`);
        latest = time;
      }
      if (count !== block.count)
        return fault(`a block of chunk ${id} has ${count} of ${block.count}`);
      seen += count;
    }
    if (latest !== row.maxTime) return fault(`chunk ${id} ends at another time`);
    if (seen !== row.count) return fault(`chunk ${id} has ${seen} of them`);
    return { blocks };
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return fault(error.message.replaceAll('stored bytes are damaged: ', ''));
  }
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

/** Reads a table a few rows at a time, each time as it is then: nobody is kept waiting. */
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
      const rows = statement.all(after) as unknown as readonly Row[];
      for (const row of rows) {
        look(row);
        after = row[0];
      }
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
  }
}

/** Which part of a chunk is newer than a time, when its datapoints lie evenly. */
function shareAfter(from: number, minTime: number, maxTime: number, now: number): number {
  if (maxTime < from || minTime > now) return 0;
  if (maxTime === minTime) return 1;
  return (Math.min(maxTime, now) - Math.max(minTime, from)) / (maxTime - minTime);
}
