import type { RetentionTables } from '../sql/retentions.ts';
import type { StoredDatapoints } from '../sql/stored-bytes.ts';

/** Where retention finds what it needs in SQLite. */
export const retentionTables: RetentionTables = {
  user: { columns: 'username', keys: 'username' },
  joinUser: 'left join retentions u on u.username = devices.owner',
  oldest: '(select min(min_time) from chunks where chunks.series = sensors.series)',
};

/** Where SQLite counts the datapoints that are in chunks. */
export const storedDatapoints: StoredDatapoints = {
  sensors: 'sensors left join last_values using (series)',
  bytes: 'coalesce(last_values.bytes, 0)',
};
