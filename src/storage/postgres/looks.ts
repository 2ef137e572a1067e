import type { NewLook } from '../../domain/datapoints/datapoint-store.ts';
import type { DeviceId, NotificationId, SensorId } from '../../domain/ids.ts';
import { lookLimits } from '../../domain/notifications/look-limits.ts';
import type { LookStore, StoredState, WaitingLook } from '../../domain/notifications/look-store.ts';
import { parseJson } from '../../lib/json.ts';
import { writeJson } from '../../lib/long-json.ts';
import { stateFromText } from '../sql/notification-row.ts';
import { sendNotificationStates } from './notification-writes.ts';
import type { ClaimContext } from './store-context.ts';
import type { WriteSession } from './writer.ts';

const insertAll = `
  insert into looks (id, member, device_id, entry)
  select id, member, device_id, entry
  from unnest($1::text[], $2::integer[], $3::text[], $4::text[])
    with ordinality as given (id, member, device_id, entry, place) order by place`;
const columns = `
  id, looks.member, device_id, coalesce(state <> 'serving', true) as is_left, entry, fired`;
const selectLine = `
  select ${columns} from looks left join members using (member)
  where device_id = $1 order by place limit $2`;
const selectLeft = `
  select ${columns} from looks left join members using (member)
  where looks.member = $1 or coalesce(state <> 'serving', true) order by place limit $2`;
const selectStates = `
  select id, last_fired_at, state from notifications
  left join notification_states on notification = position and device_id = $1
  where id = any($2::text[])`;
const selectValues = `
  select sensor_id, received_at, value from looked_values
  where device_id = $1 and sensor_id = any($2::text[])`;
const upsertValues = `
  insert into looked_values (device_id, sensor_id, received_at, value)
  select device_id, sensor_id, received_at, value
  from unnest($2::text[], $3::float8[], $4::text[]) as given (sensor_id, received_at, value)
  join sensors using (sensor_id) where device_id = $1
  on conflict (device_id, sensor_id)
    do update set received_at = excluded.received_at, value = excluded.value`;
const markFired = `update looks set fired = fired || $2::text || ' ' where id = $1`;
const deleteLooks = 'delete from looks where id = any($1::text[])';

interface LookRow {
  readonly id: string;
  readonly member: number;
  readonly device_id: string;
  readonly is_left: boolean;
  readonly entry: string;
  readonly fired: string;
}

interface ValueRow {
  readonly sensor_id: string;
  readonly received_at: number;
  readonly value: string;
}

interface StateRow {
  readonly id: string;
  readonly last_fired_at: number | null;
  readonly state: string | null;
}

/** Files looks in this commit, which are pushes as others are told of them. */
export function fileLooks(
  tx: WriteSession,
  filed: readonly { readonly look: NewLook; readonly text: string }[],
): void {
  if (filed.length === 0) return;
  tx.send(
    insertAll,
    filed.map(({ look }) => look.id),
    filed.map(({ look }) => look.member),
    filed.map(({ look }) => look.deviceId),
    filed.map(({ text }) => text),
  );
}

/** Notes in this commit that a firing of the look is stored. */
export const noteFired = (tx: Pick<WriteSession, 'run'>, lookId: string, id: NotificationId) =>
  tx.run(markFired, lookId, id);

/** Looks in PostgreSQL. */
export function createLookStore({ reader, writer, damaged, member }: ClaimContext): LookStore {
  const readState = (
    { id, state, last_fired_at: at }: StateRow,
    deviceId: DeviceId,
  ): StoredState => {
    const read = () => (state === null ? undefined : stateFromText(state));
    return {
      state: damaged.read('notification_states', `${id} ${deviceId}`, read),
      lastFiredAt: at ?? undefined,
    };
  };

  return {
    member,
    file: (look) => writer.call(async (tx) => fileLooks(tx, [{ look, text: '' }])),
    async line(deviceId) {
      return (await reader.all<LookRow>(selectLine, deviceId, lookLimits.looksInLineMax)).map(
        toLook,
      );
    },
    async statesOf(deviceId, ids) {
      const rows = await reader.all<StateRow>(selectStates, deviceId, ids);
      return new Map(rows.map((row) => [row.id as NotificationId, readState(row, deviceId)]));
    },
    async valuesOf(deviceId, sensorIds) {
      const rows = await reader.all<ValueRow>(selectValues, deviceId, sensorIds);
      return new Map(
        rows.map(({ sensor_id, value, received_at: receivedAt }) => [
          sensor_id as SensorId,
          { value: parseJson(value), receivedAt },
        ]),
      );
    },
    finish: ({ ids, states, deviceId, values }) =>
      writer.call(async (tx) => {
        tx.send(deleteLooks, ids);
        sendNotificationStates(tx, states);
        if (values === undefined) return;
        const all = [...values.values()];
        tx.send(
          ...([upsertValues, deviceId, [...values.keys()]] as const),
          all.map(({ receivedAt }) => receivedAt),
          all.map(({ value }) => writeJson(value)),
        );
      }),
    async left() {
      const rows = await reader.all<LookRow>(selectLeft, member, lookLimits.looksPerSweep);
      return rows.map((row) => ({ ...toLook(row), deviceId: row.device_id as DeviceId }));
    },
  };
}

const toLook = ({ id, member, is_left, entry, fired }: LookRow): WaitingLook => ({
  ...{ id, member, isLeft: is_left, text: entry },
  fired: new Set(fired.split(' ').filter((text) => text !== '')),
});
