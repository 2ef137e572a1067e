import type { Note } from '../../domain/datapoints/datapoint-store.ts';
import type {
  FeedLog,
  LogEntry,
  LogPage,
  LogPlaces,
  LogPosition,
  Telling,
} from '../../domain/members/member-store.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { SqlSession, Value } from '../sql/session.ts';
import { tellWill } from '../sql/wills.ts';
import { fileEvaluations } from './evaluations.ts';
import { unavailable } from './failures.ts';
import type { MemberConnection } from './member-connection.ts';
import { lastPlace, sessionIndexKey } from './own-tables.ts';
import { postgresLimits } from './postgres-limits.ts';
import { dropHereOfEnded, dropShares } from './shares.ts';
import { tellId } from './timeseries/kept-ids.ts';
import type { Writer, WriteSession } from './writer.ts';

const insert = 'insert into feed_log (writer, entry) values ($1, $2) returning place';
const insertAll = `
  insert into feed_log (writer, entry)
  select $1, entry from unnest($2::text[]) with ordinality as given (entry, place) order by place`;
/**
 * From all writers, commands too, by their places, which commits give when they have their locks:
 * so a commit that waited for another one comes behind it. A place may become visible behind a
 * higher one of another writer, so there is a position for each. Of a writer that joined later,
 * everything it wrote.
 */
const selectNew = `
  select found.writer, found.place, found.entry as text
  from writers
  left join unnest($2::integer[], $3::bigint[]) as known (writer, place) using (writer)
  cross join lateral (
    select feed_log.writer, feed_log.place, entry from feed_log
    where feed_log.writer = writers.writer and feed_log.place > coalesce(known.place, 0)
    order by feed_log.place limit ${postgresLimits.logEntriesPerRead}) as found
  where writers.writer <> $1`;
const selectPositions = `
  select (each.value)::bigint as place, (each.key)::integer as writer
  from members, json_each_text(members.positions::json) as each where member = $1`;
const acknowledge = `
  with told as (update members set positions = $2 where member = $1)
  select set_config('synchronous_commit', 'off', true),
    pg_notify('kipimo ' || hashtext(current_schema()), '')`;
/** Of what it wrote itself alone: what was read of others may not have been acted on yet. */
const acknowledgeOwn = `
  update members
  set positions = (positions::jsonb || jsonb_build_object($1::text, $2::bigint))::text
  where member = $1::integer`;
/** Of one member only while it has a connection: a killed one has none, and is not waited for. */
const findDeaf = `
  select 1 as found from members
  where state = 'serving' and member <> $1
    and coalesce((positions::json ->> $1::text)::bigint, 0) < $2
    and ($3::integer is null or (member = $3
      and (backend is null or backend in (select pid from pg_stat_activity)))) limit 1`;
/**
 * Drops entries that every serving member has acknowledged, also the one that wrote them: it may be
 * killed before it has queued its own. For sessions that are not adopted yet, or behind, every
 * entry that may be for them is kept.
 */
const dropHeard = `
  with seen as (select * from unnest($1::integer[], $2::bigint[]) as given (writer, last)),
  lacking as (
    select distinct case when known_term = term then known else '{}' end as known
    from mqtt_sessions where behind),
  needed as materialized (
    select writer, min(coalesce((known::json ->> writer::text)::bigint, 0)) as behind
    from seen, lacking group by writer)
  delete from feed_log using seen left join needed using (writer)
  where feed_log.writer = seen.writer and place <= last
  and (needed.behind is null or place <= needed.behind) and not exists (
    select from members
    where (state = 'serving'
        or (owns and exists (select from mqtt_sessions where owner = members.member)))
      and coalesce((positions::json ->> feed_log.writer::text)::bigint, 0) < feed_log.place)`;

const selectFirst = `
  select coalesce(min(place), ${lastPlace}) as place from feed_log`;
const selectLast = `
  select writers.writer, last.place, ${lastPlace} as claimed from writers cross join lateral (
    select max(place) as place from feed_log where feed_log.writer = writers.writer) as last
  where last.place is not null`;
/** The message of a claim that is not settled is read again when its process ends. */
const findOpenClaim = `
  select 1 as found from mqtt_shares where not settled and place <= $1 limit 1`;
/** How often in turn nothing is dropped for open claims: members may never acknowledge. */
const openClaimsMax = 5;

/** Files evaluations in this commit, and writes entries for other processes where these serve. */
export function tellOthers(tx: WriteSession, notes: readonly Note[]): void {
  fileEvaluations(
    tx,
    notes.flatMap(({ look, text }) => (look === undefined ? [] : { look, text })),
  );
  const others = tx.others();
  const entries = notes.flatMap(({ text, isOwn }) => (isOwn === true ? [] : text));
  if (others === undefined || entries.length === 0) return;
  tx.send(insertAll, others.own, entries);
  tx.news(entries);
}

/** No process joins before the commit ends: joining is a commit, and takes the commit lock. */
async function hasOthers(tx: WriteSession): Promise<boolean> {
  await tx.first('select');
  return tx.others() !== undefined;
}

/** Reads the first of the entries that `select` finds, in the order of places. */
export async function readPage<Entry extends LogEntry>(
  session: Pick<SqlSession, 'all'>,
  select: string,
  ...values: readonly Value[]
): Promise<LogPage & { readonly entries: readonly Entry[] }> {
  const { logEntriesPerRead: most, logBytesPerRead: bytesMax } = postgresLimits;
  const summed = `
    select *, sum(octet_length(text)) over (order by place) as bytes
    from (${select} order by place limit ${most}) as found`;
  const entries = await session.all<Entry & { readonly bytes: number }>(
    `select * from (${summed}) as page where bytes - octet_length(text) < ${bytesMax}
    order by place`,
    ...values,
  );
  const isLast = entries.length < most && (entries.at(-1)?.bytes ?? 0) < bytesMax;
  return { entries, isLast };
}

/** The log of members in PostgreSQL. What is read is what was committed; news only says when. */
export function createFeedLog(options: {
  readonly own: number;
  readonly connection: MemberConnection;
  readonly writer: Writer;
  readonly before: () => LogPlaces;
}): FeedLog {
  const { own, connection, writer, before } = options;
  const positions = new Map<number, number>();
  let isBegun = false;
  /** The connection on which everything that is seen is on the standby as well. */
  let confirmed = 0;
  /** Younger entries are kept: what its process did not hand on another process hands on. */
  let seen: readonly (LogPosition & { readonly claimed: number })[] = [];
  let waits = 0;
  /** The first place that was kept when entries were dropped last. */
  let keptFrom = 0;

  /** From where the process joined: what was committed before is in what it loaded since. */
  async function begin(): Promise<void> {
    if (isBegun) return;
    const rows = await connection.all<{ writer: number; place: number }>(selectPositions, own);
    for (const { writer: from, place } of rows) positions.set(from, place);
    isBegun = true;
  }

  return {
    append: (text) =>
      writer.call(async (tx) => {
        if (!(await hasOthers(tx))) return undefined;
        const row = await tx.first<{ place: number }>(insert, own, text);
        if (row === undefined) return undefined;
        tx.news();
        return { writer: own, place: row.place };
      }),
    tell: (messages) =>
      writer.call(async (tx) => {
        // Where no other process serves, its own subscribers get it first.
        const isAlone = !(await hasOthers(tx));
        const outcomes: Telling[] = [];
        const entries: string[] = [];
        const awaited: string[] = [];
        for (const { text, settled, receivedAs } of messages) {
          const will = settled && { ...settled, key: sessionIndexKey(settled.key), owner: own };
          // The row of a will is the right to publish it, once.
          const outcome = will
            ? await tellWill(tx, will, isAlone)
            : await tellId(tx, own, receivedAs, isAlone);
          outcomes.push(outcome);
          if (isAlone || outcome !== 'told') continue;
          const entry = text();
          entries.push(entry);
          // A message that is not published again reaches clients here all the same.
          if (settled !== undefined || receivedAs !== undefined) awaited.push(entry);
        }
        if (entries.length > 0) {
          tx.send(insertAll, own, entries);
          tx.news(awaited);
        }
        return outcomes;
      }),
    async read() {
      await begin();
      const made = connection.made();
      // A commit that ends as its connection does, while it waits for the standby, is seen, and may
      // be lost with the primary. What is seen now is on the standby once a commit of now is.
      if (made !== confirmed) await writer.call(async () => undefined, {});
      confirmed = made;
      const known = [[...positions.keys()], [...positions.values()]];
      const page = await readPage(connection, selectNew, own, ...known);
      if (connection.made() !== confirmed) throw unavailable('the connection was lost meanwhile');
      for (const { writer: from, place } of page.entries) positions.set(from, place);
      return page;
    },
    async lastPlaces() {
      const rows = await connection.all<LogPosition>(selectLast);
      const isUnread = ({ writer: by, place }: LogPosition): boolean =>
        by !== own && place > (positions.get(by) ?? 0);
      return new Map(rows.filter(isUnread).map(({ writer: by, place }) => [by, place]));
    },
    acknowledgement() {
      const places = new Map(positions);
      return async () => {
        const ownPlace = positions.get(own);
        if (ownPlace !== undefined) places.set(own, ownPlace);
        await connection.all(acknowledge, own, JSON.stringify(Object.fromEntries(places)));
      };
    },
    isHeard: async ({ writer: from, place }, by) =>
      (await connection.first(findDeaf, from, place, by ?? null)) === undefined,
    async tidy() {
      if (seen.length > 0) {
        const places = seen.map(({ place }) => place);
        const open = await connection.first(findOpenClaim, seen[0]?.claimed ?? 0);
        waits = open === undefined ? 0 : (waits + 1) % openClaimsMax;
        if (waits > 0) return;
        const ownLast = seen.find(({ writer: by }) => by === own);
        const ownPlace = ownLast?.place ?? 0;
        if (ownPlace > (positions.get(own) ?? 0)) {
          positions.set(own, ownPlace);
          await connection.run(acknowledgeOwn, own, ownPlace).catch((error: unknown) => {
            positions.delete(own);
            throw error;
          });
        }
        await connection.run(
          dropHeard,
          seen.map((last) => last.writer),
          places,
        );
        await connection.run(dropShares, keptFrom);
        keptFrom = (await connection.first<{ place: number }>(selectFirst))?.place ?? 0;
        await connection.run(dropHereOfEnded);
      }
      // Behind all commits of this process. It also stores that something is wanted no longer.
      seen = await writer.call((tx) => tx.all<(typeof seen)[number]>(selectLast), {});
      // Calls of the same commit hand on what they wrote.
      await yieldToEventLoop();
    },
    before,
    onNews: connection.onNotified,
  };
}
