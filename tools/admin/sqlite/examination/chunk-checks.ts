import { decodePushes } from '../../../../src/storage/chunks/datapoint-log.ts';
import { datapointLimits } from '../../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import { type Checks, checkSeries, type StoredSeries, walkRows } from '../../examination/checks.ts';
import {
  type ChunkSizes,
  createChunkExamination,
  type StoredChunk,
} from '../../examination/chunk-examination.ts';

/** Sizes that were read on the way through the chunks and the log. */
export interface DatapointSizes extends ChunkSizes {
  readonly logRows: number;
  readonly logBytes: number;
}

const rowsPerStep = 8;
const seriesPerStep = 50;
const first = Number.MIN_SAFE_INTEGER;

const readChunks = `
  select id, series, min_time as "minTime", max_time as "maxTime", count, datapoints as bytes
  from chunks where id > $1 order by id limit ${rowsPerStep}`;
const inIndex = `
  select 1 from chunks indexed by chunks_by_time
  where series = $1 and min_time = $2 and max_time = $3 and id = $4 and count = $5`;
const readSummary = 'select summary from chunk_summaries where chunk = $1';
const readLog = `
  select seq, pushes from datapoint_log where seq > $1 order by seq limit ${rowsPerStep}`;
// All of one series in one statement, so that a move from log to chunks cannot come between.
const readSeries = (gone: string) => `
  with few as (
    select series from chunks indexed by chunks_by_time where series > $1
    union select series from last_values where series > $1
    order by series limit ${seriesPerStep})
  select few.series,
    (select device_id || '/' || sensor_id from sensors where series = few.series) as name,
    coalesce((select sealed from last_values where series = few.series), 0) as sealed,
    coalesce((select sum(count) from chunks indexed by chunks_by_time
      where series = few.series), 0) as held,
    coalesce((select sum(count) from damaged_chunks where series = few.series), 0) as aside,
    ${gone} as gone,
    (select count(*) from (
      select min_time < lag(max_time) over (order by min_time, max_time, id) as overlaps
      from chunks indexed by chunks_by_time where series = few.series) where overlaps) as mixed
  from few order by few.series`;
// Tables of earlier versions have none of it.
const goneByRetention = `coalesce(
  (select datapoints from retained_series where series = few.series), 0)`;

const makeAnew = 'Stop the service and run kipimo compact: it makes them anew from the datapoints.';
const remedies = {
  wrong: () => makeAnew,
  missing: 'Nothing needs to be done: the service makes them in the background.',
};

/** Reads every chunk and every row of the log, with their checksums. */
export async function checkDatapoints(
  checks: Checks & { readonly now: number },
  tables: readonly string[],
): Promise<DatapointSizes> {
  const { session, findings, now, reasonOf } = checks;
  const { summaryDatapointsMin } = datapointLimits;
  const chunks = createChunkExamination({ now, findings, summaryDatapointsMin, remedies });
  const hasSummaries = tables.includes('chunk_summaries');

  async function checkChunk(chunk: StoredChunk): Promise<readonly number[]> {
    const { id, series, minTime, maxTime, count } = chunk;
    const blocks = chunks.check(chunk);
    if (blocks !== undefined && hasSummaries) {
      try {
        const row = await session.first<{ summary: Uint8Array }>(readSummary, id);
        chunks.checkSummary(chunk, row?.summary, blocks);
      } catch (error) {
        const sentence = `The summary of chunk ${id} cannot be read: ${reasonOf(error)}.`;
        findings.damage('summaries', sentence, makeAnew);
      }
    }
    if ((await session.first(inIndex, series, minTime, maxTime, id, count)) === undefined) {
      const sentence = `Chunk ${id} of series ${series} is not found by its time.`;
      findings.damage('index of chunks', sentence);
    }
    return [id];
  }

  await walkRows(checks, { table: 'chunks', sql: readChunks, after: [first] }, checkChunk);
  return { ...chunks.finish(), ...(await checkLog(checks)) };
}

async function checkLog(checks: Checks) {
  let [logRows, logBytes] = [0, 0];
  const log = { table: 'datapoint_log', sql: readLog, after: [first] };
  await walkRows<{ seq: number; pushes: Uint8Array }>(checks, log, async ({ seq, pushes }) => {
    logRows += 1;
    logBytes += pushes.length;
    try {
      decodePushes(pushes);
    } catch (error) {
      checks.findings.damage(
        'log',
        `Row ${seq} of the log of datapoints cannot be read: ${checks.reasonOf(error)}.`,
        'Restore a backup; the next start sets the row aside and goes on without it.',
      );
    }
    return [seq];
  });
  return { logRows, logBytes };
}

/** Whether every series has a sensor, and as many datapoints in chunks as were put there. */
export async function checkAllSeries(checks: Checks, tables: readonly string[]): Promise<void> {
  const sql = readSeries(tables.includes('retained_series') ? goneByRetention : '0');
  const { findings } = checks;
  type Row = Omit<StoredSeries, 'name'> & { readonly series: number; readonly name: string | null };
  const all = { table: 'chunks', sql, after: [first] };
  await walkRows<Row>(checks, all, async ({ series, name, ...row }) => {
    if (name !== null) checkSeries({ name, ...row }, findings);
    else {
      const sentence = `${row.held} datapoints in chunks belong to series ${series}`;
      findings.damage('orphans', `${sentence}, which no sensor has.`);
    }
    return [series];
  });
}
