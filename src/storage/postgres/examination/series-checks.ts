import { parseJson } from '../../../lib/json.ts';
import type { Checks } from '../../examination/checks.ts';
import { checkSeries, type StoredSeries } from '../../examination/series-checks.ts';

const seriesPerStep = 50;
/** Longer last values are not checked: reading them would take what a read takes. */
const lastValueBytesMax = 4_096;
const isOf = 'bucket = few.bucket and series = few.series';

// All of one series in one statement, so that a move from "hot" to chunks cannot come between.
const selectSeries = `
  with few as (
    select bucket, series, device_id || '/' || sensor_id as name, arrivals, sealed,
      case when octet_length(last_value) <= ${lastValueBytesMax} then last_value end as last
    from sensors where (bucket, series) > ($1, $2) order by bucket, series limit ${seriesPerStep})
  select few.*,
    (select coalesce(sum(count), 0) from chunks where ${isOf}) as held,
    (select coalesce(sum(count), 0) from hot where ${isOf}) as outside,
    (select coalesce(sum(count), 0) from damaged_points where ${isOf}) as aside,
    (select coalesce(sum(datapoints), 0) from retained_series where ${isOf}) as gone,
    (select count(*) from (
      select min_time < lag(max_time) over (order by min_time, max_time, id) as is_mixed
      from chunks where ${isOf}) as pairs where is_mixed) as mixed
  from few order by bucket, series`;

interface SeriesRow extends StoredSeries {
  readonly bucket: number;
  readonly series: number;
  readonly arrivals: number;
  readonly outside: number;
  readonly last: string | null;
}

/** Whether every sensor has as many datapoints, in chunks and outside, as were put there. */
export async function checkAllSeries({ session, findings, pace, reasonOf }: Checks): Promise<void> {
  const { damage } = findings;

  function check(row: SeriesRow): void {
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
  }

  let after: readonly [number, number] = [-1, -1];
  try {
    for (;;) {
      const rows = await session.all<SeriesRow>(selectSeries, ...after);
      for (const row of rows) {
        check(row);
        after = [row.bucket, row.series];
      }
      if (rows.length < seriesPerStep) return;
      await pace();
    }
  } catch (error) {
    damage('pages', `Sensors cannot be counted after ${after.join(', ')}: ${reasonOf(error)}.`);
  }
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
