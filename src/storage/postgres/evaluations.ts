import type { Commit, NewEvaluation } from '../../domain/datapoints/datapoint-store.ts';
import type { DeviceId, NotificationId } from '../../domain/ids.ts';
import { evaluationLimits } from '../../domain/notifications/evaluation-limits.ts';
import type {
  DeviceQueue,
  EndOutcome,
  EvaluationEnd,
  EvaluationStore,
  RulesOfDevice,
  StoredState,
  WaitingEvaluation,
} from '../../domain/notifications/notification-store.ts';
import type { Instant } from '../../lib/clock.ts';
import { stateFromText } from '../sql/firing.ts';
import { createBatchedQueries } from './batched-queries.ts';
import { saveNotificationStates } from './notification-engine.ts';
import type { ClaimContext } from './store-context.ts';
import type { WriteSession } from './writer.ts';

const insertAll = `
  insert into looks (id, member, device_id, entry)
  select id, member, device_id, entry
  from unnest($1::text[], $2::integer[], $3::text[], $4::text[])
    with ordinality as given (id, member, device_id, entry, place) order by place`;
const columns = `
  id, looks.member, device_id, coalesce(state <> 'serving', true) as is_left, entry, fired`;
const joinStates = `
  join notifications on id = asked.notification left join notification_states
    on notification_states.notification = position and device_id = asked.device`;
/** Reads waiting evaluations and what their rules remember: one statement sees one commit. */
const selectLines = `
  select line.*, null::float8 as last_fired_at, null::text as state
  from unnest($1::integer[], $2::text[]) as asked (at, device) cross join lateral (
    select asked.at, place, ${columns} from looks left join members using (member)
    where device_id = asked.device order by place limit $3) as line
  union all
  select at, null, id, 0, asked.device, false, '', '', last_fired_at, notification_states.state
  from unnest($4::integer[], $5::text[], $6::text[]) as asked (at, device, notification)
  ${joinStates}
  order by place`;
const selectLeft = `
  select ${columns} from looks left join members using (member)
  where looks.member = $1 or coalesce(state <> 'serving', true) order by place limit $2`;
/** The process of the first evaluation on the same device, for those of these that still wait. */
const selectFirst = `
  select id, (select member from looks as line where line.device_id = looks.device_id
    order by place limit 1) as member
  from looks where id = any($1::text[])`;
/** What rules remember of devices, and the evaluations that wait there; of a long one no text. */
const selectRemembered = `
  select asked.at, device, id, last_fired_at, notification_states.state,
    case when lag(device) over (order by device) is distinct from device then array(
      select case when octet_length(entry) < 2000 then entry else '' end
      from looks where device_id = asked.device order by place limit $4) end as waiting
  from unnest($1::integer[], $2::text[], $3::text[]) as asked (at, device, notification)
  ${joinStates}`;
const selectHeard = `
  select greatest(heard, last_received) as at
  from unnest($1::text[], $2::text[]) with ordinality as given (device, sensor, place)
  left join sensors on device_id = device and sensor_id = sensor order by place`;
const takeLook = 'update looks set member = $1 where id = $2 and member = $3';
const deleteLooks = 'delete from looks where id = any($1::text[])';

interface EvaluationRow {
  readonly id: string;
  readonly member: number;
  readonly device_id: string;
  readonly is_left: boolean;
  readonly entry: string;
  readonly fired: string;
}

interface LineRow extends EvaluationRow, StateRow {
  readonly at: number;
  /** Null: it is what a rule remembers. */
  readonly place: number | null;
}

interface RememberedRow extends StateRow {
  readonly at: number;
  readonly device: string;
  /** Given in one row of each device. */
  readonly waiting: readonly string[] | null;
}

interface StateRow {
  readonly id: string;
  readonly last_fired_at: number | null;
  readonly state: string | null;
}

/** The commit of an append. */
export interface PostgresCommit extends Commit {
  readonly tx: WriteSession;
}

/**
 * Until the commit ends nobody else files evaluations on these devices: their places are in the
 * order of commits. Calls that share a commit may lock devices in another order than another
 * commit does: the server ends one of both, and it is made again.
 */
const lock = 'select from devices where id = any($1::text[]) order by id for no key update';

export function lockDevices(tx: WriteSession, filed: readonly NewEvaluation[]): void {
  if (filed.length === 0) return;
  tx.send(
    lock,
    filed.map(({ deviceId }) => deviceId),
  );
}

/** Files evaluations in this commit, with their pushes as published to other processes. */
export function fileEvaluations(
  tx: WriteSession,
  filed: readonly { readonly look: NewEvaluation; readonly text: string }[],
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

/** As the columns of a table: where each id comes in the list, its device, and itself. */
function asColumns(asked: readonly RulesOfDevice[]) {
  const pairs = asked.flatMap(({ deviceId, ids }, at) => ids.map((id) => ({ at, deviceId, id })));
  return [
    pairs.map(({ at }) => at),
    pairs.map(({ deviceId }) => deviceId),
    pairs.map(({ id }) => id),
  ] as const;
}

/** Ends evaluations of a device whose first is this process's, with what they leave. */
async function endEvaluations(
  tx: WriteSession,
  member: number,
  { ids, states, progress }: EvaluationEnd,
): Promise<EndOutcome> {
  const rows = await tx.all<{ id: string; member: number }>(selectFirst, ids);
  const ours = new Set(rows.filter((row) => row.member === member).map(({ id }) => id));
  const isEnded = ids.every((id) => ours.has(id));
  if (isEnded) {
    tx.send(deleteLooks, ids);
    saveNotificationStates(tx, states);
  }
  if (progress !== undefined) progress.isEnded = isEnded;
  return isEnded ? 'ended' : 'taken';
}

/** The store of evaluations in PostgreSQL. */
export function createEvaluationStore(options: ClaimContext): EvaluationStore {
  const { reader, writer, damaged, member } = options;
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
  const lineOf = createBatchedQueries(async (asked: readonly RulesOfDevice[]) => {
    const rows = await reader.all<LineRow>(
      selectLines,
      asked.map((_, at) => at),
      asked.map(({ deviceId }) => deviceId),
      evaluationLimits.looksInLineMax,
      ...asColumns(asked),
    );
    const byDevice = Map.groupBy(rows, ({ at }) => at);
    return new Map(
      asked.map((one, at) => [one, lineFrom(byDevice.get(at) ?? [], one.deviceId)] as const),
    );
  }, batchedQueryLimits);
  const lineFrom = (rows: readonly LineRow[], deviceId: DeviceId): DeviceQueue => ({
    looks: rows.flatMap((row) => (row.place === null ? [] : toLook(row))),
    states: new Map(
      rows.flatMap((row) =>
        row.place === null ? [[row.id as NotificationId, readState(row, deviceId)]] : [],
      ),
    ),
  });
  return {
    member,
    file(look) {
      // Pushes to the device that are not committed yet come before it.
      const locks = { devices: [look.deviceId] };
      return writer.call(async (tx) => {
        lockDevices(tx, [look]);
        fileEvaluations(tx, [{ look, text: '' }]);
      }, locks);
    },
    line: async (deviceId, ids = []) =>
      (await lineOf({ deviceId, ids })) ?? { looks: [], states: new Map() },
    async remembered(commit, asked) {
      // Appends of this engine made it.
      const { tx } = commit as PostgresCommit;
      const rows = await tx.all<RememberedRow>(
        selectRemembered,
        ...asColumns(asked),
        evaluationLimits.waitingJudgedMax + 1,
      );
      const byQuestion = Map.groupBy(rows, ({ at }) => at);
      const waiting = new Map(rows.map((row) => [row.waiting && row.device, row.waiting ?? []]));
      return asked.map(({ deviceId }, at) => {
        const own = byQuestion.get(at) ?? [];
        return {
          waiting: waiting.get(deviceId) ?? [],
          states: new Map(own.map((row) => [row.id as NotificationId, readState(row, deviceId)])),
        };
      });
    },
    async heardAt(sensors) {
      const rows = await reader.all<{ at: Instant | null }>(
        selectHeard,
        sensors.map(({ deviceId }) => deviceId),
        sensors.map(({ sensorId }) => sensorId),
      );
      return rows.map(({ at }) => at ?? undefined);
    },
    finish: (end) => writer.call((tx) => endEvaluations(tx, member, end)),
    take: (id, from) => writer.call(async (tx) => tx.send(takeLook, member, id, from)),
    async left() {
      const rows = await reader.all<EvaluationRow>(
        selectLeft,
        member,
        evaluationLimits.looksPerSweep,
      );
      return rows.map((row) => ({ ...toLook(row), deviceId: row.device_id as DeviceId }));
    },
  };
}

/** Evaluations of many devices are read together. */
const batchedQueryLimits = { keysMax: 100, underWayMax: 2 } as const;

const toLook = ({ id, member, is_left, entry, fired }: EvaluationRow): WaitingEvaluation => ({
  ...{ id, member, isLeft: is_left, text: entry },
  fired: new Set(fired.split(' ').filter((text) => text !== '')),
});
