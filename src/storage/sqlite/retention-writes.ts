import type { DatabaseSync } from 'node:sqlite';
import type { Retention, RetentionScope } from '../../domain/datapoints/retention/retention.ts';
import { createSelection } from './selection.ts';

const places = {
  sensor: {
    column: 'series',
    find: 'select series as key from sensors where device_id = ? and sensor_id = ?',
  },
  device: { column: 'device', find: 'select id as key from devices where id = ?' },
  user: { column: 'username', find: 'select username as key from users where username = ?' },
} as const;

/** The changes that the writer thread makes to retentions. */
export function createRetentionWrites(database: DatabaseSync) {
  const statementsOf = ({ column, find }: (typeof places)[keyof typeof places]) => ({
    find: createSelection<{ key: string | number }>(database, find),
    remove: database.prepare(`delete from retentions where ${column} = ?`),
    insert: database.prepare(
      `insert into retentions (${column}, raw_days, hourly_days) values (?, ?, ?)`,
    ),
  });
  const statements = {
    sensor: statementsOf(places.sensor),
    device: statementsOf(places.device),
    user: statementsOf(places.user),
  };

  return {
    putRetention(scope: RetentionScope, retention: Retention | undefined): 'put' | 'missing' {
      const { find, remove, insert } = statements[scope.kind];
      const key = find.first(...idsOf(scope))?.key;
      if (key === undefined) return 'missing';
      remove.run(key);
      if (retention === undefined) return 'put';
      insert.run(key, retention.rawDays ?? null, retention.hourlyDays ?? null);
      return 'put';
    },
  };
}

function idsOf(scope: RetentionScope): readonly string[] {
  if (scope.kind === 'user') return [scope.username];
  return scope.kind === 'device' ? [scope.deviceId] : [scope.deviceId, scope.sensorId];
}
