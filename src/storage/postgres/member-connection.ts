import type pg from 'pg';
import type { OnNews } from '../../domain/members/member-store.ts';
import type { Log } from '../../lib/log.ts';
import type { SqlSession } from '../sql/session.ts';
import { sessionOn } from './connection.ts';
import { asRefusal, isConnectionLost, unavailable } from './failures.ts';
import { clientConfig } from './opening.ts';
import { postgresLimits } from './postgres-limits.ts';
import { clientClass } from './primary.ts';

/**
 * A connection for what members say to each other: nothing on it takes long, so a process that is
 * busy is none that is gone. It is made when it is first needed, and again when it was lost.
 */
export interface MemberConnection extends SqlSession {
  /** Calls back when other processes notified the channel, or may have without a connection. */
  onNotified(listener: OnNews): () => void;
  /**
   * Notifies other processes, soon: not in the commits that have news, which would wait for each
   * other by it. One is under way at a time, and the next one is for all that came meanwhile. With
   * entries also the listeners here.
   */
  notify: OnNews;
  /** As `all`, before the statements that wait: over a slow link each takes a second. */
  readonly urgent: SqlSession['all'];
  /** How many connections were made so far. */
  made(): number;
  close(): Promise<void>;
}

/** Within the commit of a command, which has no connection of this kind. */
export const notifyWithin = `select pg_notify('kipimo ' || hashtext(current_schema()), '')`;
const selectChannel = `
  select 'kipimo ' || hashtext(current_schema()) as channel, pg_backend_pid() as pid`;
// Lost in a crash of the server it is missed by nobody: everybody reads again after one.
const notifyAlone = `
  select set_config('synchronous_commit', 'off', true),
    pg_notify('kipimo ' || hashtext(current_schema()), '')`;

export function createMemberConnection(url: string, log: Log): MemberConnection {
  const Client = clientClass(url);
  const { beatStatementMs: ms } = postgresLimits;
  const listeners = new Set<OnNews>();
  let open: Promise<pg.Client> | undefined;
  let last: pg.Client | undefined;
  let isClosed = false;
  let isBusy = false;
  let made = 0;
  /** Statements that wait for those before: one is under way at a time. */
  const waiting: PromiseWithResolvers<void>[] = [];
  const tell: OnNews = (own) => {
    for (const listener of listeners) listener(own);
  };

  async function connect(): Promise<pg.Client> {
    const client = new Client({
      ...clientConfig(url, 'members'),
      ...{ connectionTimeoutMillis: ms, query_timeout: ms, statement_timeout: ms },
    });
    client.on('error', () => undefined);
    // What this process notifies on it is for the others.
    let own: number | undefined;
    client.on('notification', ({ processId }) => {
      if (processId !== own) tell();
    });
    last = client;
    client.once('end', () => {
      // Callers may have opened the next one already.
      if (last === client) open = undefined;
    });
    try {
      await client.connect();
      const { rows } = await client.query<{ channel: string; pid: number }>(selectChannel);
      own = rows[0]?.pid;
      await client.query(`listen ${client.escapeIdentifier(rows[0]?.channel ?? '')}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    made += 1;
    tell();
    return client;
  }

  async function use<Answer>(
    work: (session: SqlSession) => Promise<Answer>,
    isUrgent = false,
  ): Promise<Answer> {
    if (isBusy) {
      const turn = Promise.withResolvers<void>();
      if (isUrgent) waiting.unshift(turn);
      else waiting.push(turn);
      await turn.promise;
    }
    isBusy = true;
    try {
      return await useNow(work);
    } finally {
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else next.resolve();
    }
  }

  async function useNow<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer> {
    if (isClosed) throw unavailable('the storage is closed');
    open ??= connect();
    const own = open;
    try {
      return await work(sessionOn(await own));
    } catch (error) {
      if (isConnectionLost(error) || open !== own) {
        if (open === own) open = undefined;
        log.debug({ err: error }, 'the connection of members was lost');
        own.then((client) => client.end()).catch(() => undefined);
        // Each would wait for a connection of its own.
        for (const turn of waiting.splice(0)) turn.reject(asRefusal(error));
      }
      throw asRefusal(error);
    }
  }

  let notifying: Promise<unknown> | undefined;
  let hasMore = false;
  function notify(entries?: readonly string[]): void {
    if (entries !== undefined) tell(entries);
    hasMore = notifying !== undefined;
    notifying ??= use((session) => session.all(notifyAlone))
      .catch(() => undefined)
      .finally(() => {
        notifying = undefined;
        if (hasMore && !isClosed) notify();
      });
  }

  return {
    notify,
    all: (sql, ...values) => use((session) => session.all(sql, ...values)),
    first: (sql, ...values) => use((session) => session.first(sql, ...values)),
    run: (sql, ...values) => use((session) => session.run(sql, ...values)),
    made: () => made,
    urgent: (sql, ...values) => use((session) => session.all(sql, ...values), true),
    onNotified(listener) {
      const own: OnNews = (entries) => listener(entries);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async close() {
      isClosed = true;
      await open?.then((client) => client.end()).catch(() => undefined);
    },
  };
}
