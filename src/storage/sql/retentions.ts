import type { RetainedState } from '../../domain/datapoints/retention/hours.ts';
import {
  type RetainedSelection,
  type RetainedSensor,
  type Retention,
  type RetentionScope,
  type RetentionStore,
  retentionLimits,
} from '../../domain/datapoints/retention/retention.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';
import type { Instant } from '../../lib/clock.ts';
import type { SqlContext, Writes } from './session.ts';
import { found } from './table.ts';

/** The days that a row of retentions sets. */
interface DaysRow {
  readonly raw_days: number | null;
  readonly hourly_days: number | null;
}

/** A sensor with the nearest retention that is set for it. */
export interface RetainedRow extends DaysRow {
  readonly series: number;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly owner: string;
  readonly source: RetentionScope['kind'] | null;
  readonly oldest: number | null;
  readonly oldest_hour: number | null;
}

/** How far retention has come with a sensor. */
export interface StateRow {
  readonly raw_before: number;
  readonly open_hour: number | null;
}

/** The retention of a row: a value that is no number of days deletes nothing. */
function retentionOf({ raw_days: rawDays, hourly_days: hourlyDays }: DaysRow): Retention {
  return {
    ...(isDays(rawDays) && { rawDays }),
    ...(isDays(hourlyDays) && { hourlyDays }),
  };
}

const isDays = (days: number | null): days is number =>
  days !== null && days >= 1 && days <= retentionLimits.retentionDaysMax;

/** Rows hold what parsed ids were written from. */
export const sensorFromRow = (row: RetainedRow): RetainedSensor => ({
  number: row.series,
  deviceId: row.device_id as DeviceId,
  sensorId: row.sensor_id as SensorId,
  owner: row.owner as Username,
  ...(row.oldest !== null && { oldest: row.oldest }),
  ...(row.oldest_hour !== null && { oldestHour: row.oldest_hour }),
  ...(row.source !== null && { nearest: { retention: retentionOf(row), source: row.source } }),
});

export const stateFromRow = ({ raw_before, open_hour }: StateRow): RetainedState => ({
  rawBefore: raw_before,
  ...(open_hour !== null && { openHour: open_hour }),
});

/** A place that a retention is set for: its columns in "retentions", and where their values are. */
interface Place {
  readonly columns: string;
  readonly keys: string;
  readonly from: string;
}

/** How an engine keeps users in "retentions", and where it keeps datapoints. */
export interface RetentionTables {
  readonly user: Pick<Place, 'columns' | 'keys'>;
  /** Joins the retention of the owner as `u`. */
  readonly joinUser: string;
  /** Selects when the oldest datapoint of `sensors` is of. */
  readonly oldest: string;
}

const columns = ['raw_days', 'hourly_days'].map(
  (name) =>
    `case when s.series is not null then s.${name} when d.device is not null then d.${name}
      else u.${name} end as ${name}`,
);

/** Sensors after $1 with the nearest retention that is set for them, in order of their numbers. */
export const retainedSensors = (
  { user, joinUser, oldest }: RetentionTables,
  where: string,
): string => `
  select sensors.bucket, sensors.series, device_id, sensor_id, devices.owner,
    case when s.series is not null then 'sensor' when d.device is not null then 'device'
      when u.${user.columns} is not null then 'user' end as source,
    ${columns.join(', ')},
    ${oldest} as oldest,
    (select min(day) from hourly_summaries as hours
      where (hours.bucket, hours.series) = (sensors.bucket, sensors.series)) as oldest_hour
  from sensors join devices on devices.id = device_id
    left join retentions s on s.series = sensors.series
    left join retentions d on d.device = device_id
    ${joinUser}
  where ${where} and sensors.series > $1 order by sensors.series limit $2`;

/** Changes of retentions. */
export const retentionWrites = {
  async putRetention(
    session,
    { columns, keys, from }: Place,
    ids: readonly string[],
    retention: Retention | undefined,
  ) {
    const place = await session.first(`select ${keys} from ${from}`, ...ids);
    if (place === undefined) return 'missing';
    const remove = `delete from retentions where (${columns}) = (select ${keys} from ${from})`;
    await session.run(remove, ...ids);
    if (retention === undefined) return 'put';
    const { rawDays = null, hourlyDays = null } = retention;
    const insert = `
      insert into retentions (${columns}, raw_days, hourly_days)
      select ${keys}, $${ids.length + 1}, $${ids.length + 2} from ${from}`;
    await session.run(insert, ...ids, rawDays, hourlyDays);
    return 'put';
  },
} satisfies Writes;

/**
 * Retentions in the tables of either engine. `oldestUnflushed` answers when the oldest datapoint
 * that is in no table yet is of: it has an age as well.
 */
export function createRetentionStore(
  { reader, write }: SqlContext<typeof retentionWrites>,
  tables: RetentionTables,
  oldestUnflushed: (sensor: RetainedSensor) => Instant = () => Infinity,
): RetentionStore {
  const placeOf = placesOf(tables);
  const selectAll = retainedSensors(tables, 'true');
  const selectOwned = retainedSensors(tables, 'nocase(devices.owner) = nocase($3)');
  const selectOfDevice = retainedSensors(tables, 'device_id = $3');

  function rowsOf({ owner, deviceId, after, max }: RetainedSelection) {
    if (deviceId !== undefined) {
      return reader.all<RetainedRow>(selectOfDevice, after, max, deviceId);
    }
    return owner === undefined
      ? reader.all<RetainedRow>(selectAll, after, max)
      : reader.all<RetainedRow>(selectOwned, after, max, owner);
  }

  function withUnflushed(sensor: RetainedSensor): RetainedSensor {
    const oldest = Math.min(sensor.oldest ?? Infinity, oldestUnflushed(sensor));
    return oldest === Infinity ? sensor : { ...sensor, oldest };
  }

  return {
    async find(scope) {
      const { columns, keys, from } = placeOf[scope.kind];
      const sql = `
        select raw_days, hourly_days from retentions
        where (${columns}) = (select ${keys} from ${from})`;
      return found(await reader.first<DaysRow>(sql, ...idsOf(scope)), retentionOf);
    },
    put: (scope, retention) => write('putRetention', placeOf[scope.kind], idsOf(scope), retention),
    isAnySet: async () => (await reader.first('select 1 from retentions limit 1')) !== undefined,
    sensors: async (selection) =>
      (await rowsOf(selection)).map((row) => withUnflushed(sensorFromRow(row))),
  };
}

const placesOf = ({ user }: RetentionTables): Readonly<Record<RetentionScope['kind'], Place>> => ({
  sensor: {
    ...{ columns: 'bucket, series', keys: 'bucket, series' },
    from: 'sensors where device_id = $1 and sensor_id = $2',
  },
  device: { columns: 'device', keys: 'id', from: 'devices where id = $1' },
  user: { ...user, from: 'users where nocase(username) = nocase($1)' },
});

function idsOf(scope: RetentionScope): readonly string[] {
  if (scope.kind === 'user') return [scope.username];
  return scope.kind === 'device' ? [scope.deviceId] : [scope.deviceId, scope.sensorId];
}
