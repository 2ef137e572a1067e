import { emptyBatch } from '../../../domain/datapoints/column-batch.ts';
import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import type { Telling } from '../../../domain/members/member-store.ts';
import type { ReceivedId } from '../../../domain/publish-context.ts';
import { markStored, willIsStored } from '../../sql/wills.ts';
import { unavailable } from '../failures.ts';
import { sessionIndexKey } from '../own-tables.ts';
import type { WriteSession } from '../writer.ts';

/** No other process takes the sessions over until the commit ends. */
const select = `
  select place::integer as place, mqtt_sessions.session, owner,
    handed_on is not null as "isKept", coalesce(handed_on, 0) = 1 as "isHandedOn"
  from unnest($1::text[], $2::integer[]) with ordinality as given (key, packet_id, place)
  join mqtt_sessions using (key)
  left join mqtt_received using (session, packet_id) order by session for share of mqtt_sessions`;
const insert = `
  insert into mqtt_received (session, packet_id, handed_on)
  select * from unnest($1::bigint[], $2::integer[], $3::integer[]) on conflict do nothing`;

const selectWills = `
  select place::integer as place from unnest($1::text[], $2::bigint[]) with ordinality
    as given (key, turn, place) join mqtt_wills using (key, turn) where ${willIsStored}`;
const markWills = `
  ${markStored} from unnest($1::text[], $2::bigint[]) as given (key, turn)
  where mqtt_wills.key = given.key and mqtt_wills.turn = given.turn`;

interface KeptId {
  /** Absent: a last will. */
  readonly session?: number;
  readonly owner?: number | null;
  /** Whether the session has it: its message is stored. */
  readonly isKept: boolean;
  readonly isHandedOn: boolean;
}

/** The ids under which pushes of a batch came, by their places; of sessions that there are. */
export async function findIds(
  session: WriteSession,
  batch: readonly Push[],
): Promise<ReadonlyMap<number, KeptId>> {
  const asked = [...batch.entries()].flatMap(([place, { publishContext }]) =>
    publishContext?.receivedAs === undefined ? [] : { place, id: publishContext.receivedAs },
  );
  if (asked.length === 0) return new Map();
  const keys = asked.map(({ id }) => sessionIndexKey(id.session));
  const found = await session.all<KeptId & { place: number }>(
    ...[select, keys, asked.map(({ id }) => id.packetId)],
  );
  const ids = new Map<number, KeptId>(found.map((one) => [asked[one.place - 1]?.place ?? -1, one]));
  const turns = asked.map(({ id }) => id.willTurn ?? null);
  if (turns.every((turn) => turn === null)) return ids;
  const stored = await session.all<{ place: number }>(selectWills, keys, turns);
  const places = new Set(stored.map(({ place }) => place));
  for (const [at, { place, id }] of asked.entries()) {
    if (id.willTurn !== undefined)
      ids.set(place, { isKept: places.has(at + 1), isHandedOn: false });
  }
  return ids;
}

/** Keeps the id of a message in the commit that tells it to others, if it has one. */
export async function tellId(
  session: WriteSession,
  own: number,
  id: ReceivedId | undefined,
  isAlone: boolean,
): Promise<Telling> {
  if (id === undefined) return 'told';
  const found = [[sessionIndexKey(id.session)], [id.packetId]] as const;
  const row = await session.first<KeptId>(select, ...found);
  if (row?.session === undefined) return 'told';
  if (row.owner !== own) return 'elsewhere';
  if (row.isKept) return 'known';
  // A retained message is not done before it is retained, which is a commit of its own.
  if (!isAlone) session.send(insert, [row.session], [id.packetId], [Number(!id.retain)]);
  return 'told';
}

/** The outcome of a push by its id alone; undefined: that depends on its datapoints. */
export function outcomeByIdOf(
  id: KeptId | undefined,
  own: number | undefined,
): AppendOutcome | undefined {
  if (id === undefined) return undefined;
  if (own !== undefined && id.owner !== undefined && id.owner !== own) {
    return { kind: 'failed', reason: unavailable('the client connected elsewhere') };
  }
  const { isKept, isHandedOn } = id;
  return isKept ? { kind: 'stored', fresh: emptyBatch, isHandedOn } : undefined;
}

/** Keeps the ids of what is new. Other processes find it in their log, and hand it on. */
export function keepIds(
  session: WriteSession,
  batch: readonly Push[],
  options: {
    readonly ids: ReadonlyMap<number, KeptId>;
    readonly outcomes: readonly AppendOutcome[];
  },
): void {
  const { ids, outcomes } = options;
  const wills: ReceivedId[] = [];
  const rows = [...ids].flatMap(([place, { session: number }]) => {
    const id = batch[place]?.publishContext?.receivedAs;
    const outcome = outcomes[place];
    const isNew = outcome?.kind === 'stored' && outcome.fresh.count > 0;
    if (id === undefined || !isNew) return [];
    if (number === undefined) {
      wills.push(id);
      return [];
    }
    const isHandedOn = session.others() !== undefined && !id.retain;
    return { number, packetId: id.packetId, handedOn: Number(isHandedOn) };
  });
  if (wills.length > 0) {
    const keys = wills.map((id) => sessionIndexKey(id.session));
    const turns = wills.map(({ willTurn = null }) => willTurn);
    session.send(markWills, keys, turns);
  }
  if (rows.length === 0) return;
  session.send(
    insert,
    rows.map(({ number }) => number),
    rows.map(({ packetId }) => packetId),
    rows.map(({ handedOn }) => handedOn),
  );
}
