import { memberLimits } from '../../domain/members/member-limits.ts';
import type { LogPlaces, Member, MemberStore } from '../../domain/members/member-store.ts';
import { unavailable } from './failures.ts';
import { createFeedLog } from './feed-log.ts';
import type { MemberConnection } from './member-connection.ts';
import { freeClaims } from './membership.ts';
import type { Writer } from './writer.ts';

// A beat that a crash of the server takes back does no harm: the next one moves again. One journey,
// which takes a second over a slow link.
const countUp = `
  with counted as (
    update members set beat = beat + 1, backend = pg_backend_pid()
    where member = $1 and state = 'serving' returning member)
  select member as id, beat, state, exists (select from counted) as counted,
    set_config('synchronous_commit', 'off', true) from members order by member`;
const selectNow = 'select extract(epoch from clock_timestamp())::float8 * 1000 as now';
const giveUp = `
  update members set state = 'lost' where member = $1 and beat = $2 and state = 'serving'`;
const fence = 'update writers set ended = true where writer = $1';

/** Members in PostgreSQL. */
export function createMemberStore(options: {
  readonly own: number;
  readonly connection: MemberConnection;
  readonly writer: Writer;
  /** The last places of others in the log when the newest commit had all its locks. */
  readonly before: () => LogPlaces;
  readonly figures: MemberStore['figures'];
}): MemberStore {
  const { own, connection, writer, figures } = options;
  return {
    ...{ own, figures },
    log: createFeedLog(options),
    async beat() {
      const members = await connection.urgent<Member & { counted: boolean }>(countUp, own);
      return members[0]?.counted === true ? members : 'lost';
    },
    async now() {
      const row = await connection.first<{ now: number }>(selectNow);
      if (row === undefined || !Number.isFinite(row.now)) throw unavailable('no time was answered');
      return row.now;
    },
    giveUp: (member, beat) =>
      writer.call(async (tx) => {
        if ((await tx.run(giveUp, member, beat)) === 0) return 'moved';
        await tx.run(fence, member);
        await tx.run(freeClaims, member);
        return 'lost';
      }),
  };
}

/**
 * Beats each second from now on, until the service does so itself: whatever it still loads, the
 * others do not give it up. The second answer ends that.
 */
export function beatingFromNow(store: MemberStore): readonly [MemberStore, () => void] {
  let left = memberLimits.startMs / memberLimits.beatMs;
  let isUnderWay = false;
  const end = (): void => clearInterval(timer);
  const timer = setInterval(() => {
    left -= 1;
    if (left < 0) end();
    if (left < 0 || isUnderWay) return;
    isUnderWay = true;
    store
      .beat()
      // The service finds out at its first beat, or at its first commit.
      .catch(() => undefined)
      .finally(() => {
        isUnderWay = false;
      });
  }, memberLimits.beatMs);
  timer.unref();
  const beat = (): ReturnType<MemberStore['beat']> => {
    end();
    return store.beat();
  };
  return [{ ...store, beat }, end];
}
