import type { RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import type {
  RetainedSelection,
  RetentionStore,
} from '../../domain/datapoints/retention/retention-store.ts';
import {
  type DaysRow,
  type RetainedRow,
  retentionOf,
  sensorFromRow,
} from '../sql/retention-row.ts';
import { found, type Value } from '../sql/session.ts';
import type { StoreContext } from './store-context.ts';

/** The kinds of places that a retention is set for, with the column of each in "retentions". */
const places = {
  sensor: { key: 'series', of: 'sensors where device_id = $1 and sensor_id = $2', row: 'series' },
  device: { key: 'id', of: 'devices where id = $1', row: 'device' },
  user: { key: 'id', of: 'users where nocase(username) = nocase($1)', row: 'user_id' },
} as const;

const statementsOf = ({ key, of, row }: (typeof places)[keyof typeof places]) => ({
  findKey: `select ${key} as key${key === 'series' ? ', bucket' : ''} from ${of}`,
  find: `select raw_days, hourly_days from retentions where ${row} = (select ${key} from ${of})`,
  remove: `delete from retentions where ${row} = $1`,
  insert: `insert into retentions (${row}, raw_days, hourly_days, bucket) values ($1, $2, $3, $4)`,
});
const statements = {
  sensor: statementsOf(places.sensor),
  device: statementsOf(places.device),
  user: statementsOf(places.user),
};

const isAnySet = 'select exists (select 1 from retentions) as found';

const columns = ['raw_days', 'hourly_days'].map(
  (name) =>
    `case when s.position is not null then s.${name} when d.position is not null then d.${name}
      else u.${name} end as ${name}`,
);

/** Sensors with the nearest retention that is set for them, in the order of their numbers. */
export const retainedSensors = (where: string): string => `
  select sensors.series, sensors.bucket, device_id, sensor_id, devices.owner,
    case when s.position is not null then 'sensor' when d.position is not null then 'device'
      when u.position is not null then 'user' end as source,
    ${columns.join(', ')},
    least((select min(min_time) from chunks
        where chunks.bucket = sensors.bucket and chunks.series = sensors.series),
      (select min(min_time) from hot
        where hot.bucket = sensors.bucket and hot.series = sensors.series)) as oldest,
    (select min(day) from hourly_summaries
      where hourly_summaries.bucket = sensors.bucket and hourly_summaries.series = sensors.series)
      as oldest_hour
  from sensors join devices on devices.id = device_id
    left join retentions s on s.series = sensors.series
    left join retentions d on d.device = device_id
    left join users on nocase(username) = nocase(devices.owner)
    left join retentions u on u.user_id = users.id
  where ${where} and sensors.series > $1 order by sensors.series limit $2`;

const selectAll = retainedSensors('true');
const selectOwned = retainedSensors('nocase(devices.owner) = nocase($3)');
const selectOfDevice = retainedSensors('device_id = $3');

/** Retentions in PostgreSQL. */
export function createRetentionStore({ reader, writer }: StoreContext): RetentionStore {
  function rowsOf({ owner, deviceId, after, max }: RetainedSelection) {
    if (deviceId !== undefined) {
      return reader.all<RetainedRow>(selectOfDevice, after, max, deviceId);
    }
    return owner === undefined
      ? reader.all<RetainedRow>(selectAll, after, max)
      : reader.all<RetainedRow>(selectOwned, after, max, owner);
  }

  return {
    find: async (scope) =>
      found(await reader.first<DaysRow>(statements[scope.kind].find, ...idsOf(scope)), retentionOf),
    put: (scope, retention) =>
      writer.call(async (tx) => {
        const { findKey, remove, insert } = statements[scope.kind];
        const place = await tx.first<{ key: Value; bucket?: number }>(findKey, ...idsOf(scope));
        if (place === undefined) return 'missing';
        await tx.run(remove, place.key);
        if (retention === undefined) return 'put';
        const { rawDays = null, hourlyDays = null } = retention;
        await tx.run(insert, place.key, rawDays, hourlyDays, place.bucket ?? null);
        return 'put';
      }),
    isAnySet: async () => (await reader.first<{ found: boolean }>(isAnySet))?.found === true,
    sensors: async (selection) => (await rowsOf(selection)).map(sensorFromRow),
  };
}

function idsOf(scope: RetentionScope): readonly string[] {
  if (scope.kind === 'user') return [scope.username];
  return scope.kind === 'device' ? [scope.deviceId] : [scope.deviceId, scope.sensorId];
}
