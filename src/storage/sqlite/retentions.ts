import type { RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import type {
  RetainedSelection,
  RetainedSensor,
  RetentionStore,
} from '../../domain/datapoints/retention/retention-store.ts';
import {
  type DaysRow,
  type RetainedRow,
  retentionOf,
  sensorFromRow,
} from '../sql/retention-row.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';
import type { SqliteDatapoints } from './timeseries/datapoints.ts';

const days = 'raw_days, hourly_days';
const findOf = {
  sensor: `select ${days} from retentions
    where series = (select series from sensors where device_id = ? and sensor_id = ?)`,
  device: `select ${days} from retentions where device = ?`,
  user: `select ${days} from retentions where username = ?`,
} as const;

const columns = ['raw_days', 'hourly_days'].map((name) => {
  const pick = ['s', 'd'].map((table) => `when ${table}.rowid is not null then ${table}.${name}`);
  return `case ${pick.join(' ')} else u.${name} end as ${name}`;
});

/** Sensors with the nearest retention that is set for them. */
export const retainedSensors = `
  select sensors.series as series, device_id, sensor_id, devices.owner as owner,
    case when s.rowid is not null then 'sensor' when d.rowid is not null then 'device'
      when u.rowid is not null then 'user' end as source,
    ${columns.join(', ')},
    (select min(min_time) from chunks where chunks.series = sensors.series) as oldest,
    (select min(day) from hourly_summaries where hourly_summaries.series = sensors.series)
      as oldest_hour
  from sensors join devices on devices.id = device_id
    left join retentions s on s.series = sensors.series
    left join retentions d on d.device = device_id
    left join retentions u on u.username = devices.owner`;

const page = 'and sensors.series > ? order by sensors.series limit ?';

/** Retentions in SQLite. */
export function createRetentionStore({
  reader,
  writer,
  datapoints,
}: StoreContext & {
  readonly datapoints: Pick<SqliteDatapoints, 'oldestUnflushed'>;
}): RetentionStore {
  const ofSensor = createSelection<DaysRow>(reader, findOf.sensor);
  const ofDevice = createSelection<DaysRow>(reader, findOf.device);
  const ofUser = createSelection<DaysRow>(reader, findOf.user);
  const any = createSelection<{ found: number }>(
    reader,
    'select exists (select 1 from retentions) as found',
  );
  const all = createSelection<RetainedRow>(reader, `${retainedSensors} where true ${page}`);
  const owned = createSelection<RetainedRow>(
    reader,
    `${retainedSensors} where devices.owner = ? ${page}`,
  );
  const within = createSelection<RetainedRow>(
    reader,
    `${retainedSensors} where device_id = ? ${page}`,
  );

  function find(scope: RetentionScope): DaysRow | undefined {
    if (scope.kind === 'user') return ofUser.first(scope.username);
    return scope.kind === 'device'
      ? ofDevice.first(scope.deviceId)
      : ofSensor.first(scope.deviceId, scope.sensorId);
  }

  function rowsOf({ owner, deviceId, after, max }: RetainedSelection): readonly RetainedRow[] {
    if (deviceId !== undefined) return within.all(deviceId, after, max);
    return owner === undefined ? all.all(after, max) : owned.all(owner, after, max);
  }

  /** Includes datapoints that are not in chunks yet: they have an age as well. */
  function withUnflushed(sensor: RetainedSensor): RetainedSensor {
    const oldest = Math.min(sensor.oldest ?? Infinity, datapoints.oldestUnflushed(sensor));
    return oldest === Infinity ? sensor : { ...sensor, oldest };
  }

  return {
    find: (scope) =>
      readSafely(() => {
        const row = find(scope);
        return row === undefined ? undefined : retentionOf(row);
      }),
    put: (scope, retention) => writer.call('putRetention', scope, retention),
    isAnySet: () => readSafely(() => any.first()?.found === 1),
    sensors: (selection) =>
      readSafely(() => rowsOf(selection).map((row) => withUnflushed(sensorFromRow(row)))),
  };
}
