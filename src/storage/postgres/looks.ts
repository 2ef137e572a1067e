import type { NewLook } from '../../domain/datapoints/datapoint-store.ts';
import type { DeviceId, NotificationId } from '../../domain/ids.ts';
import { lookLimits } from '../../domain/notifications/look-limits.ts';
import type { LookStore, StoredState, WaitingLook } from '../../domain/notifications/look-store.ts';
import { stateFromText } from '../sql/notification-row.ts';
import { saveNotificationStates } from './notification-writes.ts';
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
    finish: (ids, states) =>
      writer.call(async (tx) => {
        await tx.run(deleteLooks, ids);
        await saveNotificationStates(tx, states);
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
