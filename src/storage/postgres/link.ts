import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../../lib/log.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { createSender, type Sender, type Session, sessionOn } from './connection.ts';
import { isConnectionLost, unavailable } from './failures.ts';
import { migrate, refuseHalf } from './migrate.ts';
import { connectWriter, unusable } from './opening.ts';
import { postgresLimits } from './postgres-limits.ts';
import { type Backend, lockService } from './service-lock.ts';

/** A commit that is being made. */
export interface Transaction {
  readonly session: Session;
  /** Its number. */
  readonly seq: number;
  /** When one of these fails, nothing is kept. */
  readonly send: Sender['send'];
}

/**
 * The connection that writes. It holds the lock of its schema, so that one process at a time serves
 * a database, and every commit is numbered: a process that was replaced commits nothing.
 */
export interface Link {
  /** Connects again when it has to. Answers the number of the last commit. */
  ready(): Promise<number>;
  /** Runs work in one transaction with the next number, and commits it. */
  transact<Answer>(work: (transaction: Transaction) => Promise<Answer>): Promise<Answer>;
  /** Whether another process serves this database now. */
  isFenced(): boolean;
  close(): Promise<void>;
}

interface Open {
  readonly client: pg.Client;
  readonly session: Session;
  readonly backend: Backend;
  seq: number;
}

// A commit of its own: what a standby did not have when the connection was lost it has afterwards.
const takeOver = `
  update writers set member = $1 where writer = 0 and (member = $1 or $2) returning seq`;

/** Of a process, by its random name: another one has taken its place when there is none. */
const findOwn = 'select 1 as found from writers where writer = 0 and member = $1';

export interface LinkOptions {
  readonly url: string;
  readonly log: Log;
  /** Called once, with the reason, when another process has taken the place of this one. */
  readonly onReplaced?: (reason: string) => void;
}

/** Connects, waits a moment for a process that just ended, and brings the tables up to date. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { url } = options;
  const member = randomBytes(16).toString('hex');
  let open: Open | undefined;
  try {
    open = await connect(url, member, undefined);
  } catch (error) {
    throw unusable(error);
  }
  return createLink(options, member, open);
}

function createLink({ url, log, onReplaced }: LinkOptions, member: string, first: Open): Link {
  let open: Open | undefined;
  let connecting: Promise<Open> | undefined;
  let before: Backend = first.backend;
  let acknowledged = first.seq;
  let fencedBy: string | undefined;
  hold(first);

  function hold(next: Open): void {
    open = next;
    next.client.once('end', () => lose(next));
  }

  function lose(which: Open): void {
    which.client.end().catch(() => undefined);
    if (open !== which) return;
    open = undefined;
    void comeBack();
  }

  // Nobody may write for hours. Whoever was replaced would answer meanwhile with what it remembers.
  async function comeBack(): Promise<void> {
    while (open === undefined && fencedBy === undefined) {
      await ready().catch(() => undefined);
      await wait(postgresLimits.retryMsMax, undefined, { ref: false });
    }
  }

  function fence(reason: string): void {
    if (fencedBy !== undefined) return;
    fencedBy = reason;
    log.error({}, reason);
    if (reason === replaced) onReplaced?.(reason);
  }

  async function ready(): Promise<Open> {
    if (fencedBy !== undefined) throw unavailable(fencedBy);
    if (open !== undefined) return open;
    connecting ??= connectAgain().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function connectAgain(): Promise<Open> {
    let next: Open;
    try {
      next = await connect(url, member, before);
    } catch (error) {
      if (!(error instanceof UnusableStorageError)) throw error;
      if (error instanceof FencedError) fence(error.message);
      throw unavailable(error.message, error);
    }
    before = next.backend;
    if (next.seq < acknowledged) fence(lost);
    if (fencedBy !== undefined) {
      lose(next);
      throw unavailable(fencedBy);
    }
    hold(next);
    log.warn({}, 'the database was reached again');
    return next;
  }

  return {
    ready: async () => (await ready()).seq,
    isFenced: () => fencedBy !== undefined,
    async transact(work) {
      const current = await ready();
      const seq = current.seq + 1;
      try {
        const answer = await commit(current, member, work);
        current.seq = seq;
        acknowledged = seq;
        return answer;
      } catch (error) {
        if (error instanceof FencedError) {
          fence(error.message);
          lose(current);
          throw unavailable(error.message);
        }
        if (isConnectionLost(error)) lose(current);
        else await current.client.query('rollback').catch(() => lose(current));
        throw error;
      }
    },
    async close() {
      fencedBy ??= 'the storage is closed';
      await connecting?.catch(() => undefined);
      const closing = open;
      open = undefined;
      await closing?.client.end().catch(() => undefined);
    },
  };
}

/**
 * Runs work in a transaction with the next number. The first statement of the work goes along with
 * the beginning, and what it does not wait for with the commit: two journeys to the server instead
 * of four. Nothing is committed before the server said that the number is ours.
 */
async function commit<Answer>(
  { client, session, seq: last }: Open,
  member: string,
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<Answer> {
  const seq = last + 1;
  const begun = begin(client, { last, seq, member });
  const { send, arrived } = createSender(session);
  let answer: Answer;
  try {
    answer = await work({ session, seq, send });
    await begun;
  } catch (error) {
    // What failed first is the reason: whatever came behind it was refused for it.
    await begun;
    await arrived();
    throw error;
  }
  const [committed] = await Promise.all([client.query('commit'), arrived()]);
  // Of what was begun, and failed since, the server keeps nothing, and says so.
  if (committed.command !== 'COMMIT') throw new Error('the transaction was not committed');
  return answer;
}

function begin(
  client: pg.Client,
  { last, seq, member }: { readonly last: number; readonly seq: number; readonly member: string },
): Promise<void> {
  // Both are made of our own digits. One journey for two statements.
  const begun = client
    .query(
      `begin; update writers set seq = ${seq}
       where writer = 0 and seq = ${last} and member = '${member}'`,
    )
    .then((answer) => {
      // Two statements have two results.
      const [, fence] = answer as unknown as readonly pg.QueryResult[];
      if (fence?.rowCount !== 1) throw new FencedError(replaced);
    });
  begun.catch(() => undefined);
  return begun;
}

const replaced = 'another process of Kipimo serves this database now: stop this one';

const lost =
  'the database lost commits that were acknowledged: stop Kipimo, and look what became of it';

class FencedError extends UnusableStorageError {}

/** `before`: the connection that this process had; its member is to be the same still. */
async function connect(url: string, member: string, before: Backend | undefined): Promise<Open> {
  const client = await connectWriter(url);
  try {
    if (before !== undefined) {
      // Also while the other one has the lock, which could be waited for in vain.
      const own = await sessionOn(client).first(findOwn, member);
      if (own === undefined) throw new FencedError(replaced);
    }
    const backend = await lockService(client, before);
    await refuseHalf(client);
    if (before === undefined) await migrate(client);
    const session = sessionOn(client);
    const found = await session.first<{ seq: number }>(takeOver, member, before === undefined);
    if (found === undefined) throw new FencedError(replaced);
    return { client, session, backend, seq: found.seq };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}
