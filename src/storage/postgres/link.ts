import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../../lib/log.ts';
import type { SqlSession } from '../sql/session.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { createSender, type Sender, sessionOn } from './connection.ts';
import { isConnectionLost, unavailable } from './failures.ts';
import {
  beginCommit,
  checkMember,
  FencedError,
  join,
  type Membership,
  replaced,
  sayGoodBye,
  takeOverFor,
} from './membership.ts';
import { migrate, refuseHalf } from './migrate.ts';
import { connectWriter, unusable } from './opening.ts';
import { postgresLimits } from './postgres-limits.ts';
import { type Backend, lockService, type Serving } from './service-lock.ts';

/** A commit that is being made. */
export interface Transaction {
  readonly session: SqlSession;
  /** Its number. */
  readonly seq: number;
  /** When one of these fails, nothing is kept. */
  readonly send: Sender['send'];
  /** Known when a statement was answered; undefined: no other process serves. */
  readonly others: () => Others | undefined;
}

/** Present in a commit while other processes serve the database; the number is this process's. */
export interface Others {
  readonly own: number;
}

/**
 * The connection that writes. It holds the lock of its schema, and every commit is numbered: a
 * process that was replaced, or given up by the others, commits nothing.
 */
export interface Link {
  /** The number of this process among those that serve the database. */
  readonly member: number;
  /** Connects again when it has to. Answers the number of the last commit. */
  ready(): Promise<number>;
  /** Runs work in one transaction with the next number, and commits it. */
  transact<Answer>(work: (transaction: Transaction) => Promise<Answer>): Promise<Answer>;
  /** The last place of others in their log when the newest commit began; 0: none. */
  told(): number;
  /** Whether another process serves this database now. */
  isFenced(): boolean;
  close(): Promise<void>;
}

interface Open {
  readonly client: pg.Client;
  readonly session: SqlSession;
  readonly backend: Backend;
  readonly membership: Membership;
  readonly serving: Serving;
  seq: number;
  told: number;
}

export interface LinkOptions {
  readonly url: string;
  readonly log: Log;
  /** Absent: a command, which is alone. */
  readonly serving?: Serving;
  /** Called once, with the reason, when another process has taken the place of this one. */
  readonly onReplaced?: (reason: string) => void;
}

/** Connects, waits a moment for a process that just ended, and brings the tables up to date. */
export async function openLink(options: LinkOptions): Promise<Link> {
  let open: Open | undefined;
  try {
    open = await connect(options, undefined);
  } catch (error) {
    throw unusable(error);
  }
  return createLink(options, open);
}

function createLink(options: LinkOptions, first: Open): Link {
  const { log, onReplaced } = options;
  let open: Open | undefined;
  let connecting: Promise<Open> | undefined;
  let before = first;
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

  // Hours may pass without a write. A replaced process would answer from its memory meanwhile.
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
      next = await connect(options, before);
    } catch (error) {
      if (!(error instanceof UnusableStorageError)) throw error;
      if (error instanceof FencedError) fence(error.message);
      throw unavailable(error.message, error);
    }
    before = next;
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
    member: first.membership.id,
    ready: async () => (await ready()).seq,
    isFenced: () => fencedBy !== undefined,
    told: () => before.told,
    async transact(work) {
      const current = await ready();
      const seq = current.seq + 1;
      try {
        const answer = await commit(current, work);
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
      if (closing === undefined) return;
      await sayGoodBye(closing.client, closing.membership).catch(() => undefined);
      await closing.client.end().catch(() => undefined);
    },
  };
}

/**
 * Runs work in a transaction with the next number. The first statement of the work goes along with
 * the beginning, and what it does not wait for with the commit: two journeys to the server instead
 * of four. Nothing is committed before the server said that the number is ours.
 */
async function commit<Answer>(
  open: Open,
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<Answer> {
  const { client, session, membership, serving, seq: last } = open;
  const seq = last + 1;
  let others: Others | undefined;
  const begun = begin(client, beginCommit(membership, last, serving), (told) => {
    others = { own: membership.id };
    open.told = told;
  });
  const { send, arrived } = createSender(session);
  let answer: Answer;
  try {
    answer = await work({ session, seq, send, others: () => others });
    await begun;
  } catch (error) {
    // The first failure is the reason: statements behind it were refused for it.
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
  statements: string,
  onOthers: (told: number) => void,
): Promise<void> {
  const begun = client.query(statements).then((answer) => {
    // Each statement has its result; the last one is the fence.
    const results = answer as unknown as readonly pg.QueryResult[];
    if (results.at(-1)?.rowCount !== 1) throw new FencedError(replaced);
    const found = results.find(({ rows }) => rows[0]?.others === true)?.rows[0];
    if (found !== undefined) onOthers((found.told as number | null) ?? 0);
  });
  begun.catch(() => undefined);
  return begun;
}

const lost =
  'the database lost commits that were acknowledged: stop Kipimo, and look what became of it';

/** `before`: what this process had; it is to be a member still. */
async function connect(
  { url, serving: asked }: LinkOptions,
  before: Pick<Open, 'backend' | 'membership' | 'told'> | undefined,
): Promise<Open> {
  const serving = asked ?? 'alone';
  const client = await connectWriter(url);
  try {
    const session = sessionOn(client);
    // Also while another one has the lock, which could be waited for in vain.
    if (before !== undefined) await checkMember(session, before.membership);
    const backend = await lockService(client, before?.backend, asked ?? 'command');
    await refuseHalf(client);
    if (before === undefined) await migrate(client);
    const joined = before?.membership ?? (await join(client, serving));
    const told = before?.told ?? 0;
    return { client, session, backend, serving, told, ...(await takeOverFor(session, joined)) };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}
