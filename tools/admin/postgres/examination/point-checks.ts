import { dayMs } from '../../../../src/domain/datapoints/retention/retention.ts';
import { parseJson } from '../../../../src/lib/json.ts';
import { DamagedBytesError } from '../../../../src/storage/chunks/bytes.ts';
import { readHours } from '../../../../src/storage/chunks/retention-step.ts';
import { hotLimits } from '../../../../src/storage/postgres/timeseries/hot-limits.ts';
import { decodeHot, type HotRow } from '../../../../src/storage/postgres/timeseries/hot-rows.ts';
import type { SqlSession } from '../../../../src/storage/sql/session.ts';
import {
  type Checks,
  checkSeries,
  type Findings,
  type StoredSeries,
  walkRows,
} from '../../examination/checks.ts';
import {
  type ChunkSizes,
  createChunkExamination,
  type StoredChunk,
} from '../../examination/chunk-examination.ts';

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
const seriesIn = (table: string): string =>
  `select distinct series from ${table} where series = any($1::bigint[])`;

interface ChunkRow extends StoredChunk {
  readonly bucket: number;
  readonly summary: Uint8Array | null;
}

interface HoursRow {
  readonly bucket: number;
  readonly series: number;
  readonly day: number;
  readonly hours: number;
  readonly summary: Uint8Array;
}

const first = Number.NEGATIVE_INFINITY;

const remedies = {
  wrong: (id: number): string =>
    `Do without: update chunks set summary = null where id = ${id}. The datapoints are read then.`,
  missing: 'Nothing needs to be done: it is only slower.',
};

/** Reads every chunk, every row outside chunks and every day of hours, with their checksums. */
export async function checkStored(
  checks: Checks & { readonly now: number },
): Promise<{ readonly sizes: ChunkSizes; readonly hotRows: number }> {
  const { findings, now } = checks;
  const { damage } = findings;
  const { summaryDatapointsMin } = hotLimits;
  const examination = createChunkExamination({ now, findings, summaryDatapointsMin, remedies });
  let hotRows = 0;

  const chunks = { table: 'chunks', sql: selectChunks, after: [-1, -1, first, first, -1] };
  await walkRows<ChunkRow>(checks, chunks, async (row) => {
    const { bucket, series, minTime, maxTime, id, summary } = row;
    const blocks = examination.check(row);
    if (blocks !== undefined) examination.checkSummary(row, summary, blocks);
    return [bucket, series, minTime, maxTime, id];
  });
  const hot = { table: 'hot', sql: selectHot, after: [-1, -1, -1] };
  await walkRows<HotRow>(checks, hot, async (row) => {
    hotRows += 1;
    const wrong = hotFault(row);
    if (wrong !== undefined) {
      damage('hot', `${row.count} datapoints of series ${row.series} cannot be trusted: ${wrong}.`);
    }
    return [row.bucket, row.series, row.ordinal];
  });
  const hours = { table: 'hourly_summaries', sql: selectHours, after: [-1, -1, first] };
  await walkRows<HoursRow>(checks, hours, async (row) => {
    if (!isWhole(row)) {
      const date = new Date(row.day).toISOString().slice(0, 10);
      damage('hours', `The hours of ${date} of series ${row.series} cannot be trusted.`);
    }
    return [row.bucket, row.series, row.day];
  });
  const sizes = examination.finish();
  await tellLost(checks.session, sizes, findings);
  return { sizes, hotRows };
}

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

/** Reports datapoints that belong to no sensor. */
async function tellLost(
  session: SqlSession,
  { series }: ChunkSizes,
  { damage }: Findings,
): Promise<void> {
  const outside = await session.first<{ rows: number; n: number }>(countLost);
  if (outside !== undefined && outside.rows > 0) {
    damage(
      'orphans',
      `${outside.n} datapoints outside chunks belong to series that no sensor has.`,
    );
  }
  const numbersIn = async (table: string, among: readonly number[]) =>
    (await session.all<{ series: number }>(seriesIn(table), among)).map((row) => row.series);
  const numbers = [...series.keys()];
  const known = new Set(await numbersIn('sensors', numbers));
  const lost = numbers.filter((number) => !known.has(number));
  if (lost.length === 0) return;
  for (const number of await numbersIn('chunks', lost)) {
    const held = series.get(number)?.datapoints ?? 0;
    const sentence = `${held} datapoints in chunks belong to series ${number}`;
    damage('orphans', `${sentence}, which no sensor has.`);
  }
}

const seriesPerStep = 50;
/** Longer last values are not checked: reading them would take what a read takes. */
const lastValueBytesMax = 4_096;
const isOf = (table: string): string =>
  `${table} where ${table}.bucket = sensors.bucket and ${table}.series = sensors.series`;

// All of one series in one statement, so that a move from "hot" to chunks cannot come between.
const selectSeries = `
  select bucket, series, device_id || '/' || sensor_id as name, arrivals, sealed,
    case when octet_length(last_value) <= ${lastValueBytesMax} then last_value end as last,
    (select coalesce(sum(count), 0) from ${isOf('chunks')}) as held,
    (select coalesce(sum(count), 0) from ${isOf('hot')}) as outside,
    (select coalesce(sum(count), 0) from ${isOf('damaged_points')}) as aside,
    (select coalesce(sum(datapoints), 0) from ${isOf('retained_series')}) as gone,
    (select count(*) from (
      select min_time < lag(max_time) over
        (partition by bucket, series order by min_time, max_time, id) as is_mixed
      from ${isOf('chunks')}) as pairs where is_mixed) as mixed
  from sensors where (bucket, series) > ($1, $2)
  order by bucket, series limit ${seriesPerStep}`;

interface SeriesRow extends StoredSeries {
  readonly bucket: number;
  readonly series: number;
  readonly arrivals: number;
  readonly outside: number;
  readonly last: string | null;
}

/** Whether every sensor has as many datapoints, in chunks and outside, as were put there. */
export async function checkAllSeries(checks: Checks): Promise<void> {
  const { findings } = checks;
  const { damage } = findings;
  const all = { table: 'sensors', sql: selectSeries, after: [-1, -1] };
  await walkRows<SeriesRow>(checks, all, async (row) => {
    const { name, arrivals, sealed, outside, last } = row;
    checkSeries(row, findings);
    const waiting = arrivals - sealed;
    if (outside < waiting) {
      damage('counts', `Of ${name} ${waiting - outside} datapoints outside chunks are missing.`);
    } else if (outside > waiting) {
      damage('counts', `${name} has ${outside} datapoints outside chunks, and counts ${waiting}.`);
    }
    if (last !== null && !isJson(last)) {
      damage('last values', `The last value of ${name} cannot be read.`);
    }
    return [row.bucket, row.series];
  });
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
