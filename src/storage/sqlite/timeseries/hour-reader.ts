import type { DatabaseSync } from 'node:sqlite';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import type { Range } from '../../../domain/datapoints/datapoint-store.ts';
import type { HourlyRead, RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import { startOfDay } from '../../../domain/datapoints/retention/retention.ts';
import type { Stretches } from '../../../domain/datapoints/stretches.ts';
import { hoursAmong } from '../../chunks/retention-step.ts';
import { type StateRow, stateFromRow } from '../../sql/retentions.ts';
import { createSelection } from '../connection.ts';

const ofSensor = `
  select raw_before, open_hour from retained_series
  where series = (select series from sensors where device_id = ? and sensor_id = ?)`;
const daysFrom = `
  select summary from hourly_summaries where series = ? and day >= ? and day <= ? order by day`;

/** Reads the hours that retention left of datapoints, as the last commit has them. */
export function createHourReader(reader: DatabaseSync) {
  const find = createSelection<StateRow>(
    reader,
    'select raw_before, open_hour from retained_series where series = ?',
  );
  const findSensor = createSelection<StateRow>(reader, ofSensor);
  const days = reader.prepare(daysFrom);
  const any = createSelection<object>(reader, 'select 1 from retained_series limit 1');
  let isAnyTaken = any.first() !== undefined;

  return {
    /** Undefined: all that was ever put in chunks is there. */
    state(series: number): RetainedState | undefined {
      const row = isAnyTaken ? find.first(series) : undefined;
      return row && stateFromRow(row);
    },
    /** Hours that begin in the range, both ends included, oldest first: at most so many. */
    hours(series: number, { from, to }: { from: number; to: number }, max: number): Stretches {
      const rows = days.iterate(series, startOfDay(from), startOfDay(to)) as unknown;
      return hoursAmong(rows as Iterable<{ readonly summary: Uint8Array }>, { from, to }, max);
    },
    /** Both, for a read of one series. */
    of(series: number): Pick<HourlyRead, 'state' | 'hours'> {
      const hours: HourlyRead['hours'] = (from, to, max) => this.hours(series, { from, to }, max);
      return { state: this.state(series), hours };
    },
    /** From when the datapoints of all of these in the range are kept. */
    standsFrom(
      sensors: readonly SensorRef[],
      { from = Number.NEGATIVE_INFINITY }: Range,
    ): number | undefined {
      if (!isAnyTaken) return undefined;
      let latest: number | undefined;
      for (const { deviceId, sensorId } of sensors) {
        const before = findSensor.first(deviceId, sensorId)?.raw_before ?? from;
        if (before > from && before > (latest ?? from)) latest = before;
      }
      return latest;
    },
    /** Something was taken: until then, no table is asked. */
    noteTaken(): void {
      isAnyTaken = true;
    },
  };
}

export type HourReader = ReturnType<typeof createHourReader>;
