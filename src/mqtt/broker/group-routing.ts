import { createHash } from 'node:crypto';
import type { Verdict } from '../../domain/access/policy.ts';
import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type {
  Share,
  ShareClaim,
  SharedSessions,
  ShareOutcome,
} from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import { finalAttemptsMax, type Journal, untilDone } from './journal.ts';
import type { Outbound } from './outbound.ts';
import type { DeliveryTerms, Session } from './session.ts';
import type { SharedTarget, Target } from './subscription-tree.ts';

/** A message on its way to one member of a group. */
interface Round {
  readonly message: Message;
  readonly delivery: Delivery;
  readonly group: SharedTarget;
  readonly members: Iterator<Target, undefined>;
  readonly how: Manner;
}

/** How a message is routed. */
interface Manner {
  /** Only what a process had claimed that ended, or that it gave back. */
  readonly isAgain: boolean;
  /** Whether it was sent to a member that ended. */
  readonly isRepeated: boolean;
  /** How often it was left to other processes. */
  readonly tries: number;
  /** Whether it is not left to them any more. */
  readonly isLast: boolean;
}

const usual: Manner = { isAgain: false, isRepeated: false, tries: 0, isLast: false };

/** A member that may have a message, and how. */
interface Chosen {
  readonly target: Target;
  readonly terms: DeliveryTerms;
  readonly share: Share;
}

/** Hands messages to one member of a group. */
export function createGroupRouting(options: {
  readonly outbound: Pick<Outbound, 'offer' | 'admits' | 'tryAdmit'>;
  readonly journal: Pick<Journal, 'hold'>;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly claims: Claims | undefined;
  /** Undefined: it is none for this one. */
  readonly termsFor: (message: Message, target: Target) => DeliveryTerms | undefined;
}) {
  const { outbound, journal, counters, clock, claims, termsFor } = options;

  /**
   * Sends to one member: the next connected one that may have it, else one that will come back.
   * The answer is held for the message, and resolves when its claim is decided.
   */
  function route(
    delivery: Delivery,
    group: SharedTarget,
    how: Partial<Manner> = usual,
  ): Promise<void> | undefined {
    const { message } = delivery;
    const { turn } = group;
    if (turn.waiting === undefined) {
      const members = inTurn(group);
      turn.next = (turn.next + 1) % 0x4000_0000;
      return walk({ message, delivery, group, members, how: { ...usual, ...how } });
    }
    if (turn.waiting.length >= mqttLimits.deliveriesWaitingMax) {
      counters.dropped.queue_full += 1;
      return undefined;
    }
    delivery.keep();
    const { promise, resolve } = Promise.withResolvers<void>();
    journal.hold(promise, message.payer);
    turn.waiting.push(() => resolve(route(delivery, group, how)));
    return promise;
  }

  /** Asks for one after the other, those who are there first. */
  function walk(round: Round): Promise<void> | undefined {
    for (let next = round.members.next(); next.done !== true; next = round.members.next()) {
      const verdict = tryHave(next.value, round);
      if (verdict === 'no') continue;
      if (verdict === 'yes') return choose(round, next.value);
      round.group.turn.waiting = [];
      const walked = walkOn(round, next.value);
      journal.hold(walked, round.message.payer);
      return walked;
    }
    return undefined;
  }

  /** As `walk`, from where a right has to be looked up; never rejects. */
  async function walkOn(round: Round, first: Target): Promise<void> {
    round.delivery.keep();
    let claimed: Promise<void> | undefined;
    let target: Target | undefined = first;
    while (target !== undefined) {
      // Where the store cannot say, the delivery asks again.
      const isChosen = await mayHave(target, round).catch(() => round.message.qos > 0);
      if (isChosen && !target.session.isEnded) {
        claimed = choose(round, target);
        break;
      }
      const next: IteratorResult<Target, undefined> = round.members.next();
      target = next.value;
    }
    const { turn } = round.group;
    const waiting = turn.waiting ?? [];
    turn.waiting = undefined;
    for (const goOn of waiting) goOn();
    await claimed;
  }

  function tryHave({ session }: Target, { message, delivery }: Round): Verdict {
    return isOver(session, delivery) ? 'no' : outbound.tryAdmit(session, message.topic);
  }

  async function mayHave({ session }: Target, { message, delivery }: Round): Promise<boolean> {
    return !isOver(session, delivery) && outbound.admits(session, message.topic);
  }

  /** Where other processes have members as well, it is claimed first. */
  function choose(round: Round, target: Target): Promise<void> | undefined {
    const { message, delivery, group, how } = round;
    const terms = termsFor(message, target);
    if (terms === undefined) return undefined;
    const name = claims && claimNameOf(message);
    if (claims === undefined || name === undefined) {
      const handOn = (left: Message, isRepeated: boolean) =>
        void route(new Delivery(left, clock.now()), group, { isRepeated });
      const isRepeated = how.isRepeated && terms.qos === 1;
      if (!how.isAgain) outbound.offer(target.session, delivery, { ...terms, handOn, isRepeated });
      return undefined;
    }
    const isHere = target.session.link !== undefined;
    // No session queues a QoS 0 message: it comes at most once.
    if (terms.qos === 0 && (!isHere || how.isAgain)) return undefined;
    if (terms.qos === 0 && claims.waiting() >= mqttLimits.deliveriesWaitingMax) {
      counters.dropped.queue_full += 1;
      return undefined;
    }
    const chosen = { target, terms, share: { group: group.name, message: name } };
    const claimed = claim(claims, { ...round, delivery: delivery.detached() }, chosen);
    if (terms.qos === 0) return undefined;
    journal.hold(claimed, message.payer);
    return claimed;
  }

  async function claim(own: Claims, round: Round, chosen: Chosen): Promise<void> {
    const { target, terms, share } = chosen;
    const { message, delivery, group, how } = round;
    const { link, isDurable } = target.session;
    const outcome = await own.claim({
      ...{ ...share, isAgain: how.isAgain, isHere: link !== undefined || how.isLast },
      isSettled: terms.qos === 0 || (terms.qos === 2 && !isDurable),
    });
    if (outcome === 'won' || outcome === 'won_again') {
      give(own, round, { ...chosen, isRepeated: outcome === 'won_again' });
    }
    if (outcome === 'left') {
      own.later({
        ...{ bytes: bytesOfMessage(message), tries: how.tries },
        tryAgain: (tries, isLast) =>
          void route(new Delivery(delivery.message, clock.now()), group, { ...how, tries, isLast }),
      });
    }
  }

  /** The member may have left meanwhile. */
  function give(
    own: Claims,
    { delivery, group }: Round,
    { target, terms, share, isRepeated }: Chosen & { readonly isRepeated: boolean },
  ): void {
    const { message } = delivery;
    const isThere = ({ session }: Target): boolean =>
      !session.isEnded &&
      !isOver(session, delivery) &&
      (session.link !== undefined || terms.qos > 0);
    const heir = isThere(target) ? target : [...inTurn(group)].find(isThere);
    const its = heir && (heir === target ? terms : termsFor(message, heir));
    if (heir !== undefined && its !== undefined) {
      // With QoS 2 what was sent is not handed on.
      const repeated = { isRepeated: isRepeated && its.qos === 1 };
      outbound.offer(heir.session, delivery, { ...its, share, ...repeated });
    } else if (terms.qos > 0) own.giveBack(share);
  }

  return { route };
}

/** Whether the session has expired without a connection. */
const isOver = ({ link, expiresAt }: Session, { now }: Delivery): boolean =>
  link === undefined && expiresAt <= now;

/**
 * Members of the group in the order they are asked, connected ones first; not too many. Those whose
 * session has ended are members until their subscriptions are forgotten.
 */
function* inTurn({ members, turn }: SharedTarget): Generator<Target, undefined> {
  let left: number = mqttLimits.groupMembersAskedMax;
  for (const isThere of [true, false]) {
    for (let at = 0; at < members.length; at += 1) {
      const member = members[(turn.next + at) % members.length];
      if (member === undefined || member.session.isEnded) continue;
      if ((member.session.link !== undefined) !== isThere) continue;
      if (left === 0) return;
      left -= 1;
      yield member;
    }
  }
}

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

export type Claims = ReturnType<typeof createClaims>;

/**
 * Claims of group messages: one member gets each message, at the process that claims it first of
 * all that serve. Many are claimed in one commit, in the order in which they were asked for.
 */
export function createClaims(options: {
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
  const here = new Set<string>();
  let hereAgainAt = 0;
  let left: Left[] = [];
  let leftBytes = 0;
  let undecided = 0;
  let lastClaim: Promise<unknown> | undefined;
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
    const startedAt = performance.now();
    if (startedAt < hereAgainAt) return;
    const now = new Set<string>();
    for (const { name, members } of groups()) {
      if (members.some(({ session }) => session.link !== undefined)) now.add(name);
    }
    const step = stepFor('');
    for (const name of now.symmetricDifference(here)) {
      if (step.here.size >= mqttLimits.storeRowsPerStep) break;
      step.here.set(name, now.has(name));
      if (!here.delete(name)) here.add(name);
    }
    // Groups of all payers are looked through: the pause behind that is ten times as long.
    hereAgainAt = performance.now() + 10 * (performance.now() - startedAt);
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
      lastClaim = promise;
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
    /** Resolves when all claims that were asked for until now are decided. */
    decided: (): Promise<unknown> | undefined => lastClaim,
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
function claimNameOf({ origin, receivedAt, topic, payload }: Message): string | undefined {
  if (origin !== undefined) return `${origin.writer} ${origin.at}`;
  if (receivedAt === undefined) return undefined;
  const hash = createHash('sha256').update(`${topic}\u0000${receivedAt}\u0000`).update(payload);
  return hash.digest('base64');
}
