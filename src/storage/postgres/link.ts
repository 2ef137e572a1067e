import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { LogPlaces, LogPosition } from '../../domain/members/member-store.ts';
import type { WantedGroups } from '../../domain/members/wanted-values.ts';
import type { Log } from '../../lib/log.ts';
import type { SqlSession } from '../sql/session.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { createSender, type Sender, sessionOn } from './connection.ts';
import { isConnectionLost, unavailable } from './failures.ts';
import { findLossySettings } from './lossy-settings.ts';
import {
  beginCommit,
  checkMember,
  join,
  leavePlacesOut,
  type Membership,
  replaced,
  sayGoodBye,
  selectOthers,
  selectReached,
  takeOverFor,
} from './membership.ts';
import { FencedError, migrate, refuseHalf, refuseNewer } from './migrate.ts';
import { connectWriter, unusable } from './opening.ts';
import { commitWhole, type Parts, readParts } from './parts.ts';
import { postgresLimits } from './postgres-limits.ts';
import { type Backend, lockService, type Serving } from './service-lock.ts';

/** A commit that is being made. */
export interface Transaction {
  readonly session: SqlSession;
  readonly part: number;
  /** The number of the commit in the part. */
  readonly seq: number;
  /** When one of these fails, nothing is kept. */
  readonly send: Sender['send'];
  /** Known when a statement was answered; undefined: no other process serves. */
  readonly others: () => Others | undefined;
  /** Something is written that others read: what they wrote before has to be known. */
  readonly news: () => void;
}

/**
 * Commits of the control plane are made one after the other by all processes, so what they read is
 * the newest there is. Those of the data plane lock the rows that they change, and nothing else. A
 * number: they change this part of it alone; -1: it has none.
 */
export type Plane = 'control' | number;

/** The numbers of the last commits of this process, by part. */
export type Seqs = ReadonlyMap<number, number>;

/** Present in a commit while other processes serve the database; the number is this process's. */
export interface Others {
  readonly own: number;
  /** For each group of devices, `1`: somebody wants their values. */
  readonly wants: string;
}

/**
 * The connection that writes. It holds the lock of its schema, and every commit is numbered: a
 * process that was replaced, or given up by the others, commits nothing.
 */
export interface Link {
  /** The number of this process among those that serve the database. */
  readonly member: number;
  readonly parts: Parts;
  /** Connects again when it has to. Answers the numbers of the last commits, by part. */
  ready(): Promise<Seqs>;
  /** Whether several processes may serve the database, so that rows have to be locked. */
  readonly isShared: boolean;
  /** Whether commits of datapoints go without the lock of all processes. */
  hasDataPlane(): boolean;
  /** Runs work in one transaction with the next number, and commits it. */
  transact<Answer>(
    plane: Plane,
    work: (transaction: Transaction) => Promise<Answer>,
  ): Promise<Answer>;
  /** The last places of others in their log when the newest commit had all its locks. */
  reached(): LogPlaces;
  /** How many settings of the server let acknowledged values be lost. */
  lossySettings(): number;
  /** How long commits waited for the lock of all processes so far. */
  lockWaitSeconds(): number;
  /** Whether another process serves this database now. */
  isFenced(): boolean;
  /** Calls back when it has connected again, with the numbers of the last commits. */
  onReached(listener: (seqs: Seqs) => void): void;
  close(): Promise<void>;
}

interface Open {
  readonly client: pg.Client;
  /** Throws when a commit ended before its standby had it; nobody knows then whether it stays. */
  readonly requireConfirmed: () => void;
  readonly session: SqlSession;
  readonly backend: Backend;
  readonly membership: Membership;
  readonly serving: Serving;
  readonly lossySettings: number;
  readonly parts: Parts;
  readonly seqs: Map<number, number>;
  reached: LogPlaces;
  /** Whether a process of a version before this one serves, which locks no rows. */
  isBesideOlder: boolean;
}

export interface LinkOptions {
  readonly url: string;
  readonly log: Log;
  /** Absent: a command, which is alone. */
  readonly serving?: Serving;
  /** What serves, for people: a version. */
  readonly program?: string;
  /** Called once, with the reason, when others have taken the place of this process. */
  readonly onReplaced?: (reason: string) => void;
  /** The values that this process wants to hear of. Absent: all. */
  readonly wanted?: WantedGroups;
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

/** Says what of the server lets acknowledged values be lost; answers how many there are. */
async function warnOfLoss({ log, serving }: LinkOptions, session: SqlSession): Promise<number> {
  // Commands say it in `kipimo doctor`.
  if (serving === undefined) return 0;
  const found = await findLossySettings(session);
  for (const { setting, consequence, advice } of found) {
    log.warn({ advice }, `the database runs with ${setting}: ${consequence}`);
  }
  return found.length;
}

function createLink(options: LinkOptions, first: Open): Link {
  const { log, onReplaced, wanted } = options;
  let open: Open | undefined;
  let connecting: Promise<Open> | undefined;
  let before = first;
  let fencedBy: string | undefined;
  let lockWaitMs = 0;
  let reached: (seqs: Seqs) => void = () => undefined;
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
    if (reason !== lost) onReplaced?.(reason);
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
    const acknowledged = [...before.seqs];
    before = next;
    wanted?.forget();
    if (acknowledged.some(([part, seq]) => (next.seqs.get(part) ?? 0) < seq)) fence(lost);
    if (fencedBy !== undefined) {
      lose(next);
      throw unavailable(fencedBy);
    }
    hold(next);
    reached(next.seqs);
    log.warn({}, 'the database was reached again');
    return next;
  }

  return {
    member: first.membership.id,
    parts: first.parts,
    ready: async () => (await ready()).seqs,
    isFenced: () => fencedBy !== undefined,
    isShared: first.serving === 'shared',
    hasDataPlane: () =>
      first.parts.length > 0 || (first.serving === 'shared' && !before.isBesideOlder),
    reached: () => before.reached,
    lossySettings: () => before.lossySettings,
    lockWaitSeconds: () => lockWaitMs / 1_000,
    onReached(listener) {
      reached = listener;
    },
    async transact(plane, work) {
      const current = await ready();
      try {
        const askedAt = performance.now();
        const onBegun = () => {
          if (plane === 'control') lockWaitMs += performance.now() - askedAt;
        };
        return await commit(current, work, { plane, onBegun, wanted });
      } catch (error) {
        if (error instanceof FencedError) {
          fence(error.message);
          lose(current);
          throw unavailable(error.message);
        }
        if (isConnectionLost(error)) lose(current);
        else {
          await current.client.query('rollback').catch((gone: unknown) => {
            lose(current);
            throw gone;
          });
        }
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
  how: { plane: Plane; onBegun: () => void; wanted: WantedGroups | undefined },
): Promise<Answer> {
  const { plane, onBegun, wanted } = how;
  const { client, session, membership, requireConfirmed, parts, seqs } = open;
  const part = plane === 'control' ? -1 : plane;
  const last = seqs.get(part) ?? 0;
  const seq = last + 1;
  let others: Others | undefined;
  // A push that nobody wants has no place among what others wrote.
  let hasNews = plane === 'control';
  const news = (): void => {
    hasNews = true;
  };
  const first = beginCommit(membership, last, { part, isControl: hasNews, wants: wanted?.begin() });
  const begun = begin(session, membership, first, (found) => {
    onBegun();
    if (found?.others) others = { own: membership.id, wants: found.wants };
    open.isBesideOlder = found?.older === true;
  });
  begun.catch(() => undefined);
  const { send, arrived } = createSender(session);
  let answer: Answer;
  try {
    answer = await work({ session, part, seq, send, others: () => others, news });
    await begun;
  } catch (error) {
    // The first failure is the reason: statements behind it were refused for it.
    await begun;
    await arrived();
    throw error;
  }
  // Everything that this commit had to wait for is committed.
  const asked = others && hasNews ? reachedOn(session, membership) : undefined;
  if (parts.length > 0) send(commitWhole);
  const [committed, reached] = await Promise.all([client.query('commit'), asked, arrived()]);
  // Of what was begun, and failed since, the server keeps nothing, and says so.
  if (committed.command !== 'COMMIT') throw new Error('the transaction was not committed');
  requireConfirmed();
  seqs.set(part, seq);
  wanted?.made();
  if (reached !== undefined) open.reached = reached;
  return answer;
}

async function reachedOn(session: SqlSession, { id }: Membership): Promise<LogPlaces> {
  const rows = await session.all<LogPosition>(selectReached, id);
  return new Map(rows.map(({ writer, place }) => [writer, place]));
}

interface OthersFound {
  readonly others: boolean;
  readonly older: boolean;
  readonly wants: string;
}

/**
 * Sends all statements at once: none waits for the answer to the one before. What was found is told
 * before any statement behind these is answered.
 */
async function begin(
  session: SqlSession,
  { id }: Membership,
  { first, number }: ReturnType<typeof beginCommit>,
  onFound: (found: OthersFound | undefined) => void,
): Promise<void> {
  const before = [['begin'] as const, ...first].map((statement) => session.run(...statement));
  const [changed] = await Promise.all([
    session.run(...number),
    session.first<OthersFound>(selectOthers(id)).then(onFound),
    ...before,
  ]);
  if (changed !== 1) throw new FencedError(replaced);
}

/**
 * A commit that is cancelled while it waits for a standby, by a person or a timeout, is answered as
 * one that was made, with a warning in the server's language: the standby may not have it.
 */
function watchConfirmations(client: pg.Client): () => void {
  let isConfirmed = true;
  client.on('notice', ({ routine }) => {
    if (routine === 'SyncRepWaitForLSN') isConfirmed = false;
  });
  return () => {
    if (isConfirmed) return;
    const sentence = 'a commit was cancelled before its standby had it';
    throw Object.assign(new Error(sentence), { code: '57014', severity: 'ERROR' });
  };
}

const lost =
  'the database lost commits that were acknowledged: stop Kipimo, and look what became of it';

/** `before`: what this process had; it is to be a member still. */
async function connect(
  options: LinkOptions,
  before: Pick<Open, 'backend' | 'membership' | 'parts'> | undefined,
): Promise<Open> {
  const { url, serving: asked, program } = options;
  const serving = asked ?? 'alone';
  const client = await connectWriter(url);
  const requireConfirmed = watchConfirmations(client);
  try {
    const session = sessionOn(client);
    // Also while another one has the lock, which could be waited for in vain.
    if (before !== undefined) await checkMember(session, before.membership);
    const backend = await lockService(client, before?.backend, asked ?? 'command');
    await refuseHalf(client);
    if (before === undefined) await migrate(client);
    else await refuseNewer(client);
    const parts = before?.parts ?? (await readParts(client));
    const joined = before?.membership ?? (await join(client, { serving, program, parts }));
    const taken = await takeOverFor(session, joined, parts);
    if (before !== undefined) await session.all(leavePlacesOut);
    // A commit of before may be made although its answer was lost: what it waited for is here.
    const reached = await reachedOn(session, joined);
    const found = await session.first<OthersFound>(selectOthers(joined.id));
    const isBesideOlder = found?.older ?? false;
    const lossySettings = await warnOfLoss(options, session);
    requireConfirmed();
    return {
      ...{ client, session, backend, serving, reached, isBesideOlder, lossySettings, parts },
      ...{ requireConfirmed, ...taken },
    };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}
