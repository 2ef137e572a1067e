import type { DatabaseSync } from 'node:sqlite';
import { type Findings, restoreBackup } from '../../examination/finding.ts';
import type { Pace } from '../../examination/pace.ts';
import { tablesOf } from './table-checks.ts';

const seriesPerStep = 50;

// All of one series in one statement, so that a move from log to chunks cannot come between.
const readSeries = (gone: string) => `
  with few as (
    select series from chunks indexed by chunks_by_time where series > :after
    union select series from last_values where series > :after
    order by series limit ${seriesPerStep})
  select few.series,
    (select sensor_id from sensors where series = few.series) is not null as is_known,
    coalesce((select sealed from last_values where series = few.series), 0) as sealed,
    coalesce((select sum(count) from chunks indexed by chunks_by_time
      where series = few.series), 0) as held,
    coalesce((select sum(count) from damaged_chunks where series = few.series), 0) as aside,
    ${gone} as gone,
    (select count(*) from (
      select min_time < lag(max_time) over (order by min_time, max_time, id) as overlaps
      from chunks indexed by chunks_by_time where series = few.series) where overlaps) as overlaps
  from few order by few.series`;

// Tables of earlier versions have none of it.
const goneByRetention = `coalesce(
  (select datapoints from retained_series where series = few.series), 0)`;

const nameSeries = `
  select device_id || '/' || sensor_id as name from sensors where series = ?`;

interface SeriesRow {
  readonly series: number;
  readonly is_known: number;
  readonly sealed: number;
  readonly held: number;
  readonly aside: number;
  /** Retention took them. */
  readonly gone: number;
  readonly overlaps: number;
}

/** Whether every series has a sensor, and as many datapoints in chunks as were put there. */
export async function checkSeries(
  database: DatabaseSync,
  { findings, pace }: { readonly findings: Findings; readonly pace: Pace },
): Promise<void> {
  const isRetained = tablesOf(database).includes('retained_series');
  const read = database.prepare(readSeries(isRetained ? goneByRetention : '0'));
  const name = database.prepare(nameSeries);
  const nameOf = (series: number) => String(name.get(series)?.['name'] ?? `series ${series}`);

  function check({ series, is_known, sealed, held, aside, gone, overlaps }: SeriesRow): void {
    const told = (check: string, sentence: string): void =>
      findings.add({ level: 'damage', check, sentence, remedy: restoreBackup });
    if (is_known === 0) {
      told(
        'orphans',
        `${held} datapoints in chunks belong to series ${series}, which no sensor has.`,
      );
      return;
    }
    const due = sealed - gone;
    if (held + aside < due) {
      told(
        'counts',
        `Of ${nameOf(series)} ${due - held - aside} datapoints of ${due} are missing.`,
      );
    } else if (held > due) {
      told('counts', `${nameOf(series)} has ${held} datapoints in chunks, and counts ${due}.`);
    }
    if (overlaps > 0) {
      told(
        'order',
        `${overlaps} chunks of ${nameOf(series)} overlap the one before: reads mix them up.`,
      );
    }
  }

  let after = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = read.all({ after }) as unknown as readonly SeriesRow[];
    for (const row of rows) check(row);
    after = rows.at(-1)?.series ?? after;
    if (rows.length < seriesPerStep) return;
    await pace();
  }
}
