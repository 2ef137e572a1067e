import { parseJson } from '../../../lib/json.ts';
import { type Findings, restoreBackup } from '../../examination/finding.ts';
import type { Pace } from '../../examination/pace.ts';
import type { SqlSession } from '../../sql/session.ts';
import { reasonOfDamage } from './reason.ts';

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

interface SeriesRow {
  readonly bucket: number;
  readonly series: number;
  readonly name: string;
  readonly arrivals: number;
  readonly sealed: number;
  readonly last: string | null;
  readonly held: number;
  readonly outside: number;
  readonly aside: number;
  /** Retention took them. */
  readonly gone: number;
  readonly mixed: number;
}

/** Whether every sensor has as many datapoints, in chunks and outside, as were put there. */
export async function checkSeries(
  session: SqlSession,
  { findings, pace }: { readonly findings: Findings; readonly pace: Pace },
): Promise<void> {
  const told = (check: string, sentence: string): void =>
    findings.add({ level: 'damage', check, sentence, remedy: restoreBackup });

  function check(row: SeriesRow): void {
    const { name, arrivals, sealed, held, outside, aside, gone, mixed, last } = row;
    const due = sealed - gone;
    if (held + aside < due) {
      told('counts', `Of ${name} ${due - held - aside} datapoints of ${due} are missing.`);
    } else if (held > due) {
      told('counts', `${name} has ${held} datapoints in chunks, and counts ${due}.`);
    }
    const waiting = arrivals - sealed;
    if (outside < waiting) {
      told('counts', `Of ${name} ${waiting - outside} datapoints outside chunks are missing.`);
    } else if (outside > waiting) {
      told('counts', `${name} has ${outside} datapoints outside chunks, and counts ${waiting}.`);
    }
    if (mixed > 0) {
      told('order', `${mixed} chunks of ${name} overlap the one before: reads mix them up.`);
    }
    if (last !== null && !isJson(last)) {
      told('last values', `The last value of ${name} cannot be read.`);
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
    told('pages', `Sensors cannot be counted after ${after.join(', ')}: ${reasonOfDamage(error)}.`);
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
