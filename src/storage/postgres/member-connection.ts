import type pg from 'pg';
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
  onNotified(listener: () => void): () => void;
  close(): Promise<void>;
}

export const notify = `select pg_notify('kipimo ' || hashtext(current_schema()), '')`;
const selectChannel = `select 'kipimo ' || hashtext(current_schema()) as channel`;

export function createMemberConnection(url: string, log: Log): MemberConnection {
  const { beatStatementMs: ms } = postgresLimits;
  const listeners = new Set<() => void>();
  let open: Promise<pg.Client> | undefined;
  let isClosed = false;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };

  async function connect(): Promise<pg.Client> {
    const Client = clientClass(url);
    const client = new Client({
      ...clientConfig(url, 'members'),
      ...{ connectionTimeoutMillis: ms, query_timeout: ms, statement_timeout: ms },
    });
    client.on('error', () => undefined);
    client.on('notification', tell);
    client.once('end', () => {
      open = undefined;
    });
    try {
      await client.connect();
      const { rows } = await client.query<{ channel: string }>(selectChannel);
      await client.query(`listen ${client.escapeIdentifier(rows[0]?.channel ?? '')}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    tell();
    return client;
  }

  async function use<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer> {
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
      }
      throw asRefusal(error);
    }
  }

  return {
    all: (sql, ...values) => use((session) => session.all(sql, ...values)),
    first: (sql, ...values) => use((session) => session.first(sql, ...values)),
    run: (sql, ...values) => use((session) => session.run(sql, ...values)),
    onNotified(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async close() {
      isClosed = true;
      await open?.then((client) => client.end()).catch(() => undefined);
    },
  };
}
