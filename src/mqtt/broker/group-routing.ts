import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { Share } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { mqttLimits } from '../limits.ts';
import type { Counters } from './counters.ts';
import { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';
import type { Outbound } from './outbound.ts';
import type { DeliveryTerms, Session } from './session.ts';
import { type Shares, shareNameOf } from './shares.ts';
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
  readonly outbound: Pick<Outbound, 'offer' | 'admits'>;
  readonly journal: Pick<Journal, 'hold'>;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly claims: Shares | undefined;
  /** Undefined: it is none for this one. */
  readonly termsFor: (message: Message, target: Target) => DeliveryTerms | undefined;
}) {
  const { outbound, journal, counters, clock, claims, termsFor } = options;

  /** Sends to one member: the next connected one that may have it, else one that will come back. */
  function route(delivery: Delivery, group: SharedTarget, how: Partial<Manner> = usual): void {
    const { message } = delivery;
    const { turn } = group;
    if (turn.waiting === undefined) {
      const members = inTurn(group);
      turn.next = (turn.next + 1) % 0x4000_0000;
      walk({ message, delivery, group, members, how: { ...usual, ...how } });
      return;
    }
    if (turn.waiting.length >= mqttLimits.deliveriesWaitingMax) {
      counters.dropped.queue_full += 1;
      return;
    }
    delivery.keep();
    const { promise, resolve } = Promise.withResolvers<void>();
    journal.hold(promise, message.payer);
    turn.waiting.push(() => {
      route(delivery, group, how);
      resolve();
    });
  }

  /** Asks for one after the other, those who are there first. */
  function walk(round: Round) {
    for (let next = round.members.next(); next.done !== true; next = round.members.next()) {
      const answer = mayHave(next.value, round);
      if (answer === false) continue;
      if (answer === true) return choose(round, next.value);
      round.group.turn.waiting = [];
      journal.hold(walkOn(round, next.value, answer), round.message.payer);
      return;
    }
  }

  /** As `walk`, from where a right has to be looked up; never rejects. */
  async function walkOn(round: Round, first: Target, asked: Promise<boolean>): Promise<void> {
    round.delivery.keep();
    let answer: boolean | Promise<boolean> = asked;
    let target: Target | undefined = first;
    while (target !== undefined) {
      // Where the store cannot say, the delivery asks again.
      const isChosen: boolean = await Promise.resolve(answer).catch(() => round.message.qos > 0);
      if (isChosen && !target.session.isEnded) {
        choose(round, target);
        break;
      }
      const next: IteratorResult<Target, undefined> = round.members.next();
      target = next.value;
      answer = target !== undefined && mayHave(target, round);
    }
    const { turn } = round.group;
    const waiting = turn.waiting ?? [];
    turn.waiting = undefined;
    for (const goOn of waiting) goOn();
  }

  const mayHave = ({ session }: Target, { message, delivery }: Round) =>
    !isOver(session, delivery) && outbound.admits(session, message.topic);

  /** Where other processes have members as well, it is claimed first. */
  function choose(round: Round, target: Target): void {
    const { message, delivery, group, how } = round;
    const terms = termsFor(message, target);
    if (terms === undefined) return;
    const name = claims && shareNameOf(message);
    if (claims === undefined || name === undefined) {
      const handOn = (left: Message, isRepeated: boolean) =>
        route(new Delivery(left, clock.now()), group, { isRepeated });
      const isRepeated = how.isRepeated && terms.qos === 1;
      if (!how.isAgain) {
        outbound.offer(target.session, delivery, { ...terms, handOn, isRepeated });
      }
      return;
    }
    const isHere = target.session.link !== undefined;
    // No session queues a QoS 0 message: it comes at most once.
    if (terms.qos === 0 && (!isHere || how.isAgain)) return;
    if (terms.qos === 0 && claims.waiting() >= mqttLimits.deliveriesWaitingMax) {
      counters.dropped.queue_full += 1;
      return;
    }
    const chosen = { target, terms, share: { group: group.name, message: name } };
    const claimed = claim(claims, { ...round, delivery: delivery.detached() }, chosen);
    if (terms.qos > 0) journal.hold(claimed, message.payer);
  }

  async function claim(own: Shares, round: Round, chosen: Chosen): Promise<void> {
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
          route(new Delivery(delivery.message, clock.now()), group, { ...how, tries, isLast }),
      });
    }
  }

  /** The member may have left meanwhile. */
  function give(
    own: Shares,
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

/** Members of the group in the order they are asked, connected ones first; not too many. */
function* inTurn({ members, turn }: SharedTarget): Generator<Target, undefined> {
  let left: number = mqttLimits.groupMembersAskedMax;
  for (const isThere of [true, false]) {
    for (let at = 0; at < members.length; at += 1) {
      const member = members[(turn.next + at) % members.length];
      if (member === undefined || (member.session.link !== undefined) !== isThere) continue;
      if (left === 0) return;
      left -= 1;
      yield member;
    }
  }
}
