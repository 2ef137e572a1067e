import { createHash } from 'node:crypto';
import type { Message } from '../../domain/messaging/message.ts';
import type {
  Share,
  ShareClaim,
  SharedSessions,
  ShareOutcome,
} from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';
import { finalAttemptsMax, untilDone } from './journal.ts';
import type { SharedTarget } from './subscription-tree.ts';

/** A message that was left to another process. */
interface Left {
  readonly bytes: number;
  readonly tries: number;
  tryAgain(tries: number, isLast: boolean): void;
}

interface Step {
  readonly claims: Map<string, ShareClaim & { resolve(outcome: ShareOutcome): void }>;
  readonly settled: Share[];
  readonly givenBack: Share[];
  readonly here: Map<string, boolean>;
}

/** Attempts at a message that was left to others, a second apart. */
const triesMax = 15;

const newStep = (): Step => ({ claims: new Map(), settled: [], givenBack: [], here: new Map() });

const sizeOf = ({ claims, settled, givenBack, here }: Step): number =>
  claims.size + settled.length + givenBack.length + here.size;

export type Shares = ReturnType<typeof createShares>;

/**
 * Claims of group messages: one member gets each message, at the process that claims it first of
 * all that serve. Many are claimed in one commit, in the order in which they were asked for.
 */
export function createShares(options: {
  readonly shared: Pick<SharedSessions, 'share'>;
  readonly groups: () => Iterable<SharedTarget>;
  /** The message to other processes that a claim is given back. */
  readonly freedNote: string;
  readonly log: Log;
}) {
  const { shared, groups, freedNote, log } = options;
  /** The last one collects; the others leave one after the other. */
  const steps: Step[] = [newStep()];
  let isLeaving = false;
  let token = 0;
  let here = new Set<string>();
  let left: Left[] = [];
  let leftBytes = 0;
  let undecided = 0;
  let isFinishing = false;
  let written: Promise<void> | undefined;
  const listeners: (() => void)[] = [];

  function stepFor(name: string): Step {
    const [last] = steps.slice(-1);
    const isFull = last === undefined || sizeOf(last) >= mqttLimits.storeRowsPerStep;
    if (!isFull && !last.claims.has(name)) return last;
    const next = newStep();
    steps.push(next);
    return next;
  }

  function leave(): void {
    if (isLeaving) return;
    isLeaving = true;
    written = new Promise((resolve) => setImmediate(resolve)).then(writeAll);
  }

  async function writeAll(): Promise<void> {
    for (let [step] = steps; step !== undefined && sizeOf(step) > 0; [step] = steps) {
      steps.shift();
      if (steps.length === 0) steps.push(newStep());
      await write(step);
    }
    isLeaving = false;
  }

  /** Tries until it succeeds: undecided claims must not be lost; no client is answered before. */
  async function write(step: Step): Promise<void> {
    const claims = [...step.claims.values()];
    const notes = step.givenBack.length > 0 ? [freedNote] : [];
    const outcomes = await untilDone(
      () => shared.share({ ...step, claims, notes }),
      (error, attempt) => {
        log.warn({ err: error }, 'messages for groups could not be claimed; trying again');
        return isFinishing && attempt >= finalAttemptsMax;
      },
    );
    undecided -= claims.length;
    for (const [at, { resolve }] of claims.entries()) resolve(outcomes?.[at] ?? 'taken');
    if (outcomes !== undefined && notes.length > 0) for (const listener of listeners) listener();
  }

  /** Publishes of which groups a member is connected here. */
  function tellHere(): void {
    const now = new Set<string>();
    for (const { name, members } of groups()) {
      if (members.some(({ session }) => session.link !== undefined)) now.add(name);
    }
    const step = stepFor('');
    for (const name of now) if (!here.has(name)) step.here.set(name, true);
    for (const name of here) if (!now.has(name)) step.here.set(name, false);
    here = now;
    if (step.here.size > 0) leave();
  }

  function retryLeft(): void {
    const waiting = left;
    left = [];
    leftBytes = 0;
    for (const one of waiting) one.tryAgain(one.tries + 1, one.tries + 1 >= triesMax);
  }

  return {
    /** Resolves in the order of claims, when it is durable; never rejects. */
    claim(claim: Omit<ShareClaim, 'token'>): Promise<ShareOutcome> {
      const name = JSON.stringify([claim.group, claim.message]);
      const { promise, resolve } = Promise.withResolvers<ShareOutcome>();
      token += 1;
      undecided += 1;
      stepFor(name).claims.set(name, { ...claim, token, resolve });
      leave();
      return promise;
    },
    /** A member of this process has it for good. */
    settle(share: Share): void {
      stepFor('').settled.push(share);
      leave();
    },
    /** No member here can have it: other processes read the log for it again. */
    giveBack(share: Share): void {
      stepFor('').givenBack.push(share);
      leave();
    },
    /** How many claims are undecided. */
    waiting: (): number => undecided,
    /** Tries again what was left to a process with a connected member, once a second. */
    later(one: Left) {
      const isFull =
        left.length >= mqttLimits.sharesLeftMax ||
        leftBytes + one.bytes > mqttLimits.sharesLeftBytesMax;
      if (isFull) return one.tryAgain(one.tries, true);
      left.push(one);
      leftBytes += one.bytes;
    },
    /** Runs every second: publishes groups with members here, retries messages left to others. */
    sweep(): void {
      tellHere();
      if (left.length > 0) retryLeft();
    },
    tellHere,
    /** Calls back when a claim was given back: other members here may have the message. */
    onGivenBack: (listener: () => void): void => void listeners.push(listener),
    /** Resolves when all is written, or when the store has failed often enough to give up. */
    async finish(): Promise<void> {
      isFinishing = true;
      left = [];
      while (isLeaving) await written;
    },
  };
}

/** The name of a message in all processes; undefined: no other process has it. */
export function shareNameOf({ origin, receivedAt, topic, payload }: Message): string | undefined {
  if (origin !== undefined) return `${origin.writer} ${origin.at}`;
  if (receivedAt === undefined) return undefined;
  const hash = createHash('sha256').update(`${topic}\u0000${receivedAt}\u0000`).update(payload);
  return hash.digest('base64');
}
