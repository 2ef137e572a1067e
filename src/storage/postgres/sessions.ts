import { setTimeout as wait } from 'node:timers/promises';
import { memberLimits } from '../../domain/members/member-limits.ts';
import type { LogEntry } from '../../domain/members/member-store.ts';
import type { WantedGroups, WantedValues } from '../../domain/members/wanted-values.ts';
import type { SessionKey } from '../../domain/messaging/message.ts';
import type {
  Claim,
  ClaimedSession,
  ClaimRequest,
  Elsewhere,
  SessionStore,
  SharedSessions,
} from '../../domain/messaging/session-store.ts';
import { createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import type { DamagedRows } from '../faults.ts';
import { loadAll, loadRetained, loadSessions } from '../sql/load-sessions.ts';
import type { SqlSession } from '../sql/session.ts';
import { createSessionChanges, insertSession, type SessionCluster } from '../sql/session-writes.ts';
import type { Row } from '../sql/table.ts';
import { putWill, type WillRow, willColumns, willsFrom } from '../sql/wills.ts';
import { unavailable } from './failures.ts';
import { readPage, tellOthers } from './feed-log.ts';
import type { MemberConnection } from './member-connection.ts';
import { sessionIndexKey, sessionTables } from './own-tables.ts';
import { postgresLimits } from './postgres-limits.ts';
import { applyShares, giveSharesBack, settleShares } from './shares.ts';
import type { StoreContext } from './store-context.ts';
import { indexKey } from './text.ts';
import type { WriteSession } from './writer.ts';

interface OfMember {
  readonly own: number;
  readonly connection: MemberConnection;
  readonly groups: WantedGroups;
}

const upsertHeard = `
  insert into mqtt_heard (session, writer, at) values ($1, $2, $3)
  on conflict (session, writer) do update set at = greatest(mqtt_heard.at, excluded.at)`;

const asNote = (text: string) => ({ text });
const clusterOf = (own: number): SessionCluster => ({
  own,
  settleShare: (session, share, isQueued) =>
    (isQueued ? settleShares : giveSharesBack)(session, own, [share]),
  async noteHeard(session, number, { writer, at }) {
    await session.run(upsertHeard, number, writer, at);
  },
});

/**
 * MQTT sessions in PostgreSQL: read once, and from then on written only. A process that is alone
 * reads all at its start; one of several those that it claims.
 */
export function createSessionStore(
  { reader, writer, damaged }: StoreContext,
  ofMember?: OfMember,
): SessionStore {
  if (ofMember === undefined) {
    const applyTo = createSessionChanges(sessionTables(undefined));
    return {
      load: () => loadAll(reader, damaged),
      async apply(changes) {
        await writer.call((tx) => applyTo(tx, changes));
      },
    };
  }
  const { own, groups } = ofMember;
  const applyTo = createSessionChanges(sessionTables(own), clusterOf(own));
  const fenced = new Set<(keys: readonly SessionKey[]) => void>();
  return {
    load: async () => ({ sessions: [], retained: await loadRetained(reader, damaged) }),
    async apply(changes, notes = []) {
      const { refused, isGivenBack } = await writer.call(async (tx) => {
        const applied = await applyTo(tx, changes);
        tellOthers(tx, notes.map(asNote));
        return applied;
      });
      for (const change of changes) if (change.kind === 'ended') groups.behind.delete(change.key);
      if (refused.length > 0 || isGivenBack) for (const listener of fenced) listener(refused);
    },
    shared: {
      ...createSharedSessions({ reader, writer, damaged, ...ofMember }),
      retained: (topics) => loadRetained(reader, damaged, topics.map(indexKey)),
      onFenced: (listener) => void fenced.add(listener),
    },
  };
}

const selectOwner = `
  select session, owner, exists (
      select from members where member = owner and state = 'serving') as "isServed"
  from mqtt_sessions where key = $1`;
/** Of the order in which processes commit. */
const nextTurn = `select nextval(pg_get_serial_sequence('feed_log', 'place')) as turn`;
const owns = 'update members set owns = true where member = $1 and not owns';
/** A session that is taken may have any subscriptions. */
const wantAll = 'update writers set wants = default where writer = $1';
/**
 * Entries that the former owner has acknowledged count as queued for the session; of a session
 * that was behind only those that it did not lack before.
 */
const takeSessions = `
  update mqtt_sessions set owner = $1, term = term + 1, behind = true, known_term = term + 1,
    known = coalesce(case
      when not behind then (select positions from members where member = owner)
      when known_term = term then (
        select json_object_agg(key, least(one.value::bigint, other.value::bigint))::text
        from json_each_text(known::json) as one join json_each_text(
          (select positions from members where member = owner)::json) as other using (key))
    end, '{}')
  where session = any($2::bigint[])`;
const selectHeard = `
  select session, writer, at from mqtt_heard where session = any($1::bigint[])`;
const findHeirless = `select 1 as found from members where state <> 'serving' and owns limit 1`;
const ended = `owner not in (select member from members where state = 'serving')`;
const selectHeirless = `
  select session from mqtt_sessions where owner is null or ${ended} order by session limit $1`;
const selectUnknown = `
  select session from mqtt_sessions where behind and owner = $2 and key <> all($3::text[])
  order by session limit $1`;
const thisServer = 'pg_postmaster_start_time()::text as server';
/** By writer, as the index is: the first places of all, and not all places for the first ones. */
const selectMissed = `
  with recursive wrote as (
    select min(writer) as writer from feed_log
    union all
    select (select min(feed_log.writer) from feed_log where feed_log.writer > wrote.writer)
    from wrote where wrote.writer is not null)
  select found.writer, found.place, found.text, ${thisServer}
  from wrote cross join lateral (
    select feed_log.writer, feed_log.place, entry as text from feed_log
    where feed_log.writer = wrote.writer and feed_log.place > $1
    order by feed_log.place limit ${postgresLimits.logEntriesPerRead}) as found`;
const setCaughtUp = `
  update mqtt_sessions set behind = false where owner = $1 and key = any($2::text[])`;
const dropHeard = `
  delete from mqtt_heard where abs(writer) not in (select writer from writers)
    and session in (select session from mqtt_sessions where owner = $1 and key = any($2::text[]))`;
const ownNoMore = `
  update members set owns = false where state <> 'serving' and owns
    and not exists (select from mqtt_sessions where owner = members.member or behind)
    and not exists (select from mqtt_wills where owner = members.member)`;
/** Of processes that ended, or that are not asked any more; kept until they were published. */
const takeWills = `
  update mqtt_wills set owner = $2, is_begun = false
  where key = $1 and owner <> $2 and (($3 and not is_begun) or ${ended})
  returning ${willColumns}`;
const adoptWills = `
  update mqtt_wills set owner = $1, is_begun = false where (key, turn) in (
    select key, turn from mqtt_wills where ${ended} order by key, turn limit $2)
  returning ${willColumns}`;
const selectUnknownWills = `
  select ${willColumns} from mqtt_wills
  where owner = $1 and not is_begun and key <> all($3::text[]) and not exists (
    select from unnest($4::bigint[]) as known (turn) where known.turn = mqtt_wills.turn)
  order by key, turn limit $2`;
const beginWill = `
  update mqtt_wills set is_begun = true where key = $1 and owner = $2 and turn = $3`;

/** Which commits of processes are under way, of all or of these. */
const selectUnderWay = (id: string) => `
  select coalesce(array_agg(${id}), '{}') as ids from pg_stat_activity
  where datname = current_database() and application_name = 'kipimo writes'
    and ${id} is not null and ($1::text[] is null or ${id} = any($1))`;
/** A commit of a part alone has no number on the coordinator. */
const idInParts = `pid || ' ' || xact_start`;

/** The groups are in the row of the writer of this process, which its commits change anyway. */
function wantedValues({ groups, writer, connection }: StoreContext & OfMember): WantedValues {
  let storing: Promise<void> | undefined;

  /** Of a process that stands still in a commit nobody waits for the end. */
  async function commitsEnd(): Promise<void> {
    const giveUpAt = performance.now() + memberLimits.barrierMs;
    const underWay = selectUnderWay(writer.parts.length > 0 ? idInParts : 'backend_xid::text');
    let row = await connection.first<{ ids: readonly string[] }>(underWay, null);
    while (row !== undefined && row.ids.length > 0 && performance.now() < giveUpAt) {
      await wait(endedLookMs);
      row = await connection.first(underWay, row.ids);
    }
  }

  function store(): Promise<void> {
    storing ??= groups
      .settle(async () => {
        await writer.call(async () => undefined, {});
        await commitsEnd();
      })
      .finally(() => {
        storing = undefined;
      });
    return storing;
  }

  const { count, areSettled } = groups;
  return {
    ...{ count, areSettled },
    isElsewhere: (session) => void groups.behind.delete(session),
    async settled(devices) {
      while (!areSettled(devices)) await store();
    },
  };
}

const endedLookMs = 2;
const withoutOwner = 'sessions without an owner';

/** Sessions that several processes have in one database: who has one is in its row. */
function createSharedSessions(
  options: StoreContext & OfMember,
): Omit<SharedSessions, 'onFenced' | 'retained'> {
  const { reader, writer, damaged, own: member, groups } = options;
  const { behind } = groups;
  const taking = { member, damaged, behind };
  let isFirst = true;
  // Sessions that no process has may be anybody's, until there are none.
  behind.add(withoutOwner);
  const keysOf = (keys: readonly SessionKey[]) => keys.map(sessionIndexKey);
  const claiming = createSemaphore({ parallelMax: postgresLimits.callsPerCommitMax });
  /** At the start there may be some without an owner; later a member has ended. */
  const areHeirless = async (): Promise<boolean> =>
    isFirst || (await reader.first(findHeirless)) !== undefined;
  const most = postgresLimits.sessionsPerAdoption;

  async function claimIn(tx: WriteSession, request: ClaimRequest): Promise<Claim | Elsewhere> {
    const claimed = await claim(tx, request, taking);
    if ('owner' in claimed) return claimed;
    const { key, isForced, will: given } = request;
    const { turn } = claimed;
    const place = { key: sessionIndexKey(key), owner: member, turn };
    const taken = await tx.all<WillRow>(takeWills, place.key, member, isForced);
    const wills = willsFrom(taken, damaged);
    if (given !== undefined) await putWill(tx, place, { ...given, turn });
    if (given !== undefined || wills.length > 0) await tx.run(owns, member);
    return { ...claimed, wills };
  }

  return {
    claim: (request) =>
      claiming.run(request.payer, () => writer.call((tx) => claimIn(tx, request))),
    async adoptWills(known) {
      if (!(await areHeirless()) && known === undefined) return [];
      return writer.call(async (tx) => {
        let rows = await tx.all<WillRow>(adoptWills, member, most);
        if (rows.length === 0 && known !== undefined) {
          const [keys, terms] = [keysOf(known.keys()), known.terms()];
          rows = await tx.all(selectUnknownWills, member, most, keys, terms);
        }
        const adopted = willsFrom(rows, damaged);
        if (adopted.length > 0) await tx.run(owns, member);
        return adopted;
      });
    },
    async adopt(known) {
      if (!(await areHeirless()) && known === undefined) return [];
      let adopted: readonly ClaimedSession[] = [];
      let kept: ReadonlySet<string> | undefined;
      await writer.call(async (tx) => {
        // Of an attempt before, another process may have them by now.
        for (const session of adopted) behind.delete(session.key);
        kept = undefined;
        let found = await tx.all<{ session: number }>(selectHeirless, most);
        if (found.length === 0) await tx.run(ownNoMore);
        if (found.length === 0 && known !== undefined) {
          kept = new Set([withoutOwner, ...known.keys()]);
          found = await tx.all(selectUnknown, most, member, keysOf(known.keys()));
        }
        const rows = found.map(({ session }) => session);
        adopted = await takeOver(tx, rows, taking, { wasElsewhere: kept === undefined });
      });
      // The others are of claims and adoptions that were refused, and were not made.
      if (adopted.length === 0 && kept !== undefined) {
        for (const key of behind) if (!kept.has(key)) behind.delete(key);
      }
      isFirst &&= adopted.length > 0;
      if (!isFirst) behind.delete(withoutOwner);
      return adopted;
    },
    share: (step) =>
      writer.call(async (tx) => {
        const outcomes = await applyShares(tx, member, step);
        tellOthers(tx, step.notes.map(asNote));
        return outcomes;
      }),
    beginWill: (key, turn) =>
      writer.call(async (tx) => (await tx.run(beginWill, sessionIndexKey(key), member, turn)) > 0),
    async missed(after) {
      const page = await readPage<LogEntry & { server: string }>(reader, selectMissed, after);
      const [first] = page.entries;
      if (first === undefined) return page;
      // An entry that the standby lacks may be told again by its process, by another name.
      const now = await writer.call(
        (tx) => tx.first<{ server: string }>(`select ${thisServer}`),
        {},
      );
      if (now?.server !== first.server) throw unavailable('the database was another one meanwhile');
      return page;
    },
    async caughtUp(keys) {
      await writer.call(async (tx) => {
        await tx.run(setCaughtUp, member, keysOf(keys));
        await tx.run(dropHeard, member, keysOf(keys));
        await tx.run(ownNoMore);
      });
      for (const key of keys) behind.delete(key);
    },
    wanted: wantedValues(options),
  };
}

interface Taking {
  readonly member: number;
  readonly damaged: DamagedRows;
  readonly behind: Set<string>;
}

async function claim(
  tx: WriteSession,
  request: ClaimRequest,
  taking: Taking,
): Promise<Omit<Claim, 'wills'> | Elsewhere> {
  const { member } = taking;
  const key = sessionIndexKey(request.key);
  const row = await tx.first<{ session: number; owner: number | null; isServed: boolean }>(
    ...[selectOwner, key],
  );
  // Memory of a session that was elsewhere is older than its rows.
  const owner = row?.isServed === true || request.isKnown ? (row?.owner ?? null) : null;
  const isOwn = row?.owner === member;
  if (owner !== null && !isOwn && !request.isForced) return { owner };
  const turn = (await tx.first<{ turn: number }>(nextTurn))?.turn ?? 0;
  tellOthers(tx, [asNote(request.note(turn))]);
  if (row === undefined && request.isKnown) return { owner: member };
  if (row === undefined) {
    if (request.expirySeconds === 0) return { turn };
    await tx.run(owns, member);
    await insertSession(tx, sessionTables(member), request);
    return { turn };
  }
  if (isOwn && request.isKnown) return { turn };
  const [session] = await takeOver(tx, [row.session], taking, { turn, wasElsewhere: !isOwn });
  return { turn, ...(session !== undefined && { session }) };
}

/** Makes sessions this member's, and answers what is kept of them. */
async function takeOver(
  tx: SqlSession,
  rows: readonly number[],
  { member, damaged, behind }: Taking,
  { turn, wasElsewhere }: { readonly turn?: number; readonly wasElsewhere: boolean },
): Promise<readonly ClaimedSession[]> {
  if (rows.length === 0) return [];
  const term = turn ?? (await tx.first<{ turn: number }>(nextTurn))?.turn ?? 0;
  await tx.run(owns, member);
  await tx.run(wantAll, member);
  await tx.run(takeSessions, member, rows);
  const heard = Map.groupBy(
    await tx.all<{ session: number; writer: number; at: number }>(selectHeard, rows),
    ({ session }) => session,
  );
  const sessions = await loadSessions(tx, damaged, { rows, also: ', since, places' });
  for (const { session } of sessions) behind.add(session.key);
  return sessions.map(({ row, session, subscribed }) => ({
    ...{ ...session, turn: term, wasElsewhere },
    since: new Map(
      subscribed.flatMap((one) => {
        const since = damaged.read('mqtt_subscriptions', row, () => sinceFrom(one));
        return since === undefined ? [] : [[String(one['filter']), since] as const];
      }),
    ),
    heard: new Map((heard.get(row) ?? []).map(({ writer, at }) => [writer, at])),
  }));
}

/** Where the log of a writer was when the subscription was made. */
function sinceFrom({ since, places }: Row): (writer: number) => number {
  // Of a version before, which commits in the order of places.
  if (places === '') return () => Number(since);
  const known = new Map(Object.entries(JSON.parse(String(places)) as Record<string, number>));
  return (writer) => known.get(String(writer)) ?? 0;
}
