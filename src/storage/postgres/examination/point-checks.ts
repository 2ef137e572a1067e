import { dayMs } from '../../../domain/datapoints/retention/retention.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import type { Columns } from '../../chunks/columns.ts';
import { readHours } from '../../chunks/retention-step.ts';
import {
  type ChunkSizes,
  createChunkExamination,
  type StoredChunk,
  summaryFault,
} from '../../examination/chunk-examination.ts';
import { type Findings, restoreBackup } from '../../examination/finding.ts';
import type { Pace } from '../../examination/pace.ts';
import type { SqlSession, Value } from '../../sql/session.ts';
import { hotLimits } from '../timeseries/hot-limits.ts';
import { decodeHot } from '../timeseries/hot-rows.ts';
import { reasonOfDamage } from './reason.ts';

const selectChunks = `
  select bucket, series, min_time as "minTime", max_time as "maxTime", id, count, points as bytes,
    summary
  from chunks where (bucket, series, min_time, max_time, id) > ($1, $2, $3, $4, $5)
  order by bucket, series, min_time, max_time, id limit 8`;
const selectHot = `
  select bucket, series, ordinal, min_time as "minTime", max_time as "maxTime", count, points
  from hot where (bucket, series, ordinal) > ($1, $2, $3)
  order by bucket, series, ordinal limit 200`;
const selectHours = `
  select bucket, series, day, hours, summary from hourly_summaries
  where (bucket, series, day) > ($1, $2, $3) order by bucket, series, day limit 200`;
const countLost = `
  select count(*) as rows, coalesce(sum(count), 0) as n from hot
  where not exists (select 1 from sensors
    where sensors.bucket = hot.bucket and sensors.series = hot.series)`;
const selectLost = `
  select given.series from unnest($1::bigint[]) as given (series)
  where not exists (select 1 from sensors where sensors.series = given.series)
    and exists (select 1 from chunks where chunks.series = given.series)`;

interface ChunkRow extends StoredChunk {
  readonly bucket: number;
  readonly summary: Uint8Array | null;
}

interface HotRow {
  readonly bucket: number;
  readonly series: number;
  readonly ordinal: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly count: number;
  readonly points: Uint8Array;
}

interface HoursRow {
  readonly bucket: number;
  readonly series: number;
  readonly day: number;
  readonly hours: number;
  readonly summary: Uint8Array;
}

interface Checks {
  readonly findings: Findings;
  readonly pace: Pace;
}

const first = Number.NEGATIVE_INFINITY;

/** Reads every chunk, every row outside chunks and every day of hours, with their checksums. */
export async function checkStored(
  session: SqlSession,
  options: Checks & { readonly now: number },
): Promise<{ readonly sizes: ChunkSizes; readonly hotRows: number }> {
  const { findings } = options;
  const told = (check: string, sentence: string, remedy = restoreBackup): void =>
    findings.add({ level: 'damage', check, sentence, remedy });
  const examination = createChunkExamination(options);
  let [missing, hotRows] = [0, 0];

  function checkSummary({ id, series, count, summary }: ChunkRow, blocks: readonly Columns[]) {
    if (summary === null) {
      if (count >= hotLimits.summaryDatapointsMin) missing += 1;
      return;
    }
    const wrong = summaryFault(summary, blocks);
    if (wrong === undefined) return;
    const sentence = `What is kept of chunk ${id} of series ${series} for aggregates ${wrong}.`;
    told('summaries', sentence, withoutSummary(id));
  }

  const chunks = { table: 'chunks', sql: selectChunks, after: [-1, -1, first, first, -1] };
  await walk<ChunkRow>(session, { ...options, ...chunks }, (row) => {
    const { bucket, series, minTime, maxTime, id } = row;
    const blocks = examination.check(row);
    if (blocks !== undefined) checkSummary(row, blocks);
    return [bucket, series, minTime, maxTime, id];
  });
  const hot = { table: 'hot', sql: selectHot, after: [-1, -1, -1] };
  await walk<HotRow>(session, { ...options, ...hot }, (row) => {
    hotRows += 1;
    const wrong = hotFault(row);
    if (wrong !== undefined) {
      told('hot', `${row.count} datapoints of series ${row.series} cannot be trusted: ${wrong}.`);
    }
    return [row.bucket, row.series, row.ordinal];
  });
  const hours = { table: 'hourly_summaries', sql: selectHours, after: [-1, -1, first] };
  await walk<HoursRow>(session, { ...options, ...hours }, (row) => {
    if (!isWhole(row)) {
      const date = new Date(row.day).toISOString().slice(0, 10);
      told('hours', `The hours of ${date} of series ${row.series} cannot be trusted.`);
    }
    return [row.bucket, row.series, row.day];
  });
  const sizes = examination.sizes();
  await tellLost(session, sizes, told);
  tellMissing(missing, findings);
  return { sizes, hotRows };
}

const withoutSummary = (id: number): string =>
  `Do without: update chunks set summary = null where id = ${id}. The datapoints are read then.`;

function hotFault({ ordinal, minTime, maxTime, count, points }: HotRow): string | undefined {
  try {
    const { count: found, times } = decodeHot(points);
    const [low, high] = [
      times.reduce((a, b) => Math.min(a, b)),
      times.reduce((a, b) => Math.max(a, b)),
    ];
    if (found !== count) return `row ${ordinal} of hot has ${found} of them`;
    return low === minTime && high === maxTime ? undefined : `row ${ordinal} has other times`;
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return `row ${ordinal} of hot: ${error.message}`;
  }
}

/** Whether the hours of a day are those of the day. */
function isWhole({ day, hours, summary }: HoursRow): boolean {
  const read = readHours(summary);
  const isOfDay = read.every(({ begin }) => begin >= day && begin < day + dayMs);
  return read.length > 0 && read.length === hours && isOfDay;
}

type Tell = (check: string, sentence: string) => void;

/** Reports datapoints that belong to no sensor. */
async function tellLost(session: SqlSession, { series }: ChunkSizes, told: Tell): Promise<void> {
  const outside = await session.first<{ rows: number; n: number }>(countLost);
  if (outside !== undefined && outside.rows > 0) {
    told('orphans', `${outside.n} datapoints outside chunks belong to series that no sensor has.`);
  }
  const numbers = [...series.keys()];
  for (const lost of await session.all<{ series: number }>(selectLost, numbers)) {
    const held = series.get(lost.series)?.datapoints ?? 0;
    const sentence = `${held} datapoints in chunks belong to series ${lost.series}`;
    told('orphans', `${sentence}, which no sensor has.`);
  }
}

function tellMissing(missing: number, findings: Findings): void {
  if (missing === 0) return;
  findings.add({
    level: 'note',
    check: 'summaries',
    sentence: `${missing} chunks have no summary: aggregates read their datapoints.`,
    remedy: 'Nothing needs to be done: it is only slower.',
  });
}

/** Reads a table a few rows at a time, each time as it is then; `look` answers the key of a row. */
async function walk<Row>(
  session: SqlSession,
  options: Checks & {
    readonly table: string;
    readonly sql: string;
    readonly after: readonly number[];
  },
  look: (row: Row) => readonly number[],
): Promise<void> {
  const { table, sql, findings, pace } = options;
  let after: readonly Value[] = options.after;
  try {
    for (;;) {
      const rows = await session.all<Row>(sql, ...after);
      if (rows.length === 0) return;
      for (const row of rows) after = look(row);
      await pace();
    }
  } catch (error) {
    findings.add({
      level: 'damage',
      check: 'pages',
      sentence:
        `The table ${table} cannot be read after ${after.join(', ')}: ` +
        `${reasonOfDamage(error)}.`,
      remedy: restoreBackup,
    });
  }
}
