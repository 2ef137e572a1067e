import type { RetentionTables } from '../sql/retentions.ts';
import type { StoredDatapoints } from '../sql/stored-bytes.ts';

/** Where retention finds what it needs in PostgreSQL. */
export const retentionTables: RetentionTables = {
  user: { columns: 'user_id', keys: 'id' },
  joinUser: `
    left join users on nocase(username) = nocase(devices.owner)
    left join retentions u on u.user_id = users.id`,
  oldest: `
    least((select min(min_time) from chunks
        where chunks.bucket = sensors.bucket and chunks.series = sensors.series),
      (select min(min_time) from hot
        where hot.bucket = sensors.bucket and hot.series = sensors.series))`,
};

/** Where PostgreSQL counts datapoints. */
export const storedDatapoints: StoredDatapoints = { sensors: 'sensors', bytes: 'sensors.bytes' };
