import type { HourTables } from '../sql/retention-tables.ts';
import type { RetentionTables } from '../sql/retentions.ts';
import { keyParts, keyToText } from '../sql/session-row.ts';
import type { SessionTables } from '../sql/session-writes.ts';
import type { StoredDatapoints } from '../sql/stored-bytes.ts';

/** Where retention finds what it needs in SQLite. */
export const retentionTables: RetentionTables = {
  user: { columns: 'username', keys: 'username' },
  joinUser: 'left join retentions u on u.username = devices.owner',
  oldest: '(select min(min_time) from chunks where chunks.series = sensors.series)',
};

/** Where retention puts hours in SQLite. */
export const hourTables: HourTables = {
  putDay: 'insert or replace into hourly_summaries (series, day, summary) values ($2, $3, $5)',
  bytes: 'last_values',
};

/** Where SQLite counts the datapoints that are in chunks. */
export const storedDatapoints: StoredDatapoints = {
  sensors: 'sensors left join last_values using (series)',
  bytes: 'coalesce(last_values.bytes, 0)',
  ofOwners: 'select owner, bytes from owner_bytes',
};

const isSession = 'identity = $1 and client_id = $2';

/** Where SQLite keeps sessions: by whole texts, and with triggers on what belongs to them. */
export const sessionTables: SessionTables = {
  ...{ willKey: keyToText, willOwner: 0 },
  isSession,
  sessionKey: keyParts,
  filterKey: 'filter',
  topicKey: 'topic',
  textKey: (text) => text,
  ownColumns: () => ({}),
  computed: {},
  async drop(session, key) {
    await session.run(`delete from mqtt_sessions where ${isSession}`, ...keyParts(key));
  },
  hasTriggers: true,
};
