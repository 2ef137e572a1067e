import type { HourTables } from '../sql/retention-tables.ts';
import type { RetentionTables } from '../sql/retentions.ts';
import { keyToText } from '../sql/session-row.ts';
import type { SessionTables } from '../sql/session-writes.ts';
import { rowBytes, type StoredDatapoints } from '../sql/stored-bytes.ts';
import { indexKey } from './text.ts';

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

/** Where retention puts hours in PostgreSQL. */
export const hourTables: HourTables = {
  putDay: `
    insert into hourly_summaries (bucket, series, day, hours, summary) values ($1, $2, $3, $4, $5)
    on conflict (bucket, series, day) do update
      set hours = excluded.hours, summary = excluded.summary`,
  bytes: 'sensors',
};

/** Where PostgreSQL counts datapoints. */
export const storedDatapoints: StoredDatapoints = {
  sensors: 'sensors',
  bytes: 'sensors.bytes',
  // Summed: a push changes the row of its sensor alone, and waits for no other of its owner.
  ofOwners: `
    select min(owner) as owner, sum(bytes) as bytes from (
      select owner, ${rowBytes} + octet_length(details) as bytes from devices
      union all
      select owner, ${rowBytes} + octet_length(sensors.details) + bytes
      from sensors join devices on devices.id = device_id
      union all
      select owner, ${rowBytes} + octet_length(actuators.details)
      from actuators join devices on devices.id = device_id) as parts
    group by nocase(owner)`,
};

/** The last place that a commit gave in the log of members. */
export const lastPlace = `
  coalesce(pg_sequence_last_value(pg_get_serial_sequence('feed_log', 'place')), 0)`;

/** The last place that each writer has committed there. */
const committedPlaces = `
  coalesce((select json_object_agg(writers.writer, last.place) from writers cross join lateral (
    select max(place) as place from feed_log where feed_log.writer = writers.writer) as last
  where last.place is not null), '{}')::text`;

/** Messages that no other session waits for go with the session that waited for them. */
const deleteQueue = `
  with gone as (delete from mqtt_queue where session =
      (select session from mqtt_sessions where key = $1) returning position, message),
    unused as (select message from gone where message is not null and not exists
      (select 1 from mqtt_queue where mqtt_queue.message = gone.message
        and position not in (select position from gone)))
  select message from unused`;
const dropMessages = 'delete from mqtt_messages where message = any($1::bigint[])';
const dropSession = 'delete from mqtt_sessions where key = $1';

/** The key of a session in the indexes of its tables. */
export const sessionIndexKey = (key: string): string => indexKey(keyToText(key));

/** Where PostgreSQL keeps sessions: by keys that an index can hold; `owner`: their process. */
export const sessionTables = (owner: number | undefined): SessionTables => ({
  ...{ willKey: sessionIndexKey, willOwner: owner ?? 0 },
  isSession: 'key = $1',
  sessionKey: (key) => [sessionIndexKey(key)],
  filterKey: 'key',
  topicKey: 'key',
  textKey: indexKey,
  ownColumns: ({ key }) => ({ key: sessionIndexKey(key), owner: owner ?? null }),
  computed: { since: lastPlace, places: committedPlaces },
  async drop(session, key) {
    const own = sessionIndexKey(key);
    const unused = await session.all<{ message: number }>(deleteQueue, own);
    const messages = unused.map(({ message }) => message);
    if (messages.length > 0) await session.run(dropMessages, messages);
    await session.run(dropSession, own);
  },
  hasTriggers: false,
});
