import pg from 'pg';
import type { Member, MemberStore } from '../../domain/members/member-store.ts';
import type { Log } from '../../lib/log.ts';
import { sessionOn } from './connection.ts';
import { asRefusal } from './failures.ts';
import { clientConfig } from './opening.ts';
import { postgresLimits } from './postgres-limits.ts';
import type { Writer } from './writer.ts';

// A beat that a crash of the server takes back does no harm: the next one moves again.
const countUp = `
  with counted as (
    update members set beat = beat + 1 where member = $1 and state = 'serving' returning member)
  select set_config('synchronous_commit', 'off', true), count(*)::integer as counted from counted`;
const selectMembers = 'select member as id, beat, state from members order by member';
const giveUp = `
  update members set state = 'lost' where member = $1 and beat = $2 and state = 'serving'`;
const fence = 'update writers set ended = true where writer = $1';

export interface MemberStoreOptions {
  readonly url: string;
  readonly own: number;
  readonly writer: Writer;
  readonly log: Log;
}

/**
 * Members in PostgreSQL. Beats have a connection of their own, on which nothing waits for long:
 * a process that is busy is none that is gone.
 */
export function createMemberStore({ url, own, writer, log }: MemberStoreOptions): MemberStore & {
  close(): Promise<void>;
} {
  const config = clientConfig(url, 'members');
  const { beatStatementMs: ms } = postgresLimits;
  const pool = new pg.Pool({ ...config, query_timeout: ms, statement_timeout: ms, max: 1 });
  pool.on('error', (error) => log.debug({ err: error }, 'the connection of beats was lost'));
  pool.on('connect', (client) => client.on('error', () => undefined));
  const session = sessionOn(pool);
  return {
    own,
    async beat() {
      try {
        const row = await session.first<{ counted: number }>(countUp, own);
        if (row?.counted !== 1) return 'lost';
        return await session.all<Member>(selectMembers);
      } catch (error) {
        throw asRefusal(error);
      }
    },
    giveUp: (member, beat) =>
      writer.call(async (tx) => {
        if ((await tx.run(giveUp, member, beat)) === 0) return 'moved';
        await tx.run(fence, member);
        return 'lost';
      }),
    close: () => pool.end(),
  };
}
