import { type Payer, payerAt } from '../../domain/budgets/budget.ts';
import type { Budgets } from '../../domain/budgets/budgets.ts';
import { limits } from '../../domain/limits.ts';
import { bytesOfMessage, type Message } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { countLevels, readSharedFilter } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { Delivery, ownMessage } from './delivery.ts';
import type { Journal } from './journal.ts';
import type { Outbound } from './outbound.ts';
import { lower, type Session } from './session.ts';
import { findNode, forgetNode, nodeAt, type TopicNode } from './subscription-tree.ts';

export type RetainedMessages = ReturnType<typeof createRetainedMessages>;

/** The last retained message of each topic. */
export function createRetainedMessages(options: {
  readonly journal: Journal;
  readonly budgets: Budgets;
  readonly clock: Clock;
}) {
  const { journal, clock } = options;
  const quota = createRetainedQuota(options.budgets);
  const root: TopicNode<Message> = { children: undefined, value: undefined };
  /** Expiry of the messages that have one, by topic. */
  const mortal = new Map<string, Instant>();
  let size = 0;

  /** The message of this topic, as it is kept. */
  const of = (topic: string): Message | undefined => findNode(root, topic.split('/'))?.value;

  function put(message: Message): void {
    const node = nodeAt(root, message.topic.split('/'));
    size += node.value === undefined ? 1 : 0;
    node.value = message;
    if (message.expiresAt === undefined) mortal.delete(message.topic);
    else mortal.set(message.topic, message.expiresAt);
  }

  /** Keeps or, without a payload, forgets [MQTT-3.3.1-6]; false: the quota is used up. */
  function keep(message: Message): boolean {
    const { topic } = message;
    if (message.payload.length === 0) {
      forget(topic);
      return true;
    }
    const known = of(topic);
    if (known !== undefined) quota.release(known);
    // A message that the service itself renews belongs to the payer that had it retained.
    const { origin: _, ...kept } = ownMessage(message);
    const own = { ...kept, payer: message.payer ?? payerOf(known) };
    if (message.payer !== undefined && !quota.take(own)) {
      // No client is to take an older state for the last one.
      if (known !== undefined) forgetCounted(known);
      return false;
    }
    if (message.payer === undefined) quota.add(own);
    put(own);
    journal.add({ kind: 'retained', message: own }, own.payer);
    return true;
  }

  function forget(topic: string, expiredAt?: Instant): void {
    const known = of(topic);
    if (known === undefined) return;
    quota.release(known);
    forgetCounted(known, expiredAt);
  }

  /** Forgets a message whose quota has been given back. */
  function forgetCounted(message: Message, expiredAt?: Instant): void {
    const { topic } = message;
    drop(topic);
    const when = expiredAt === undefined ? {} : { expiredAt };
    journal.add({ kind: 'unretained', topic, ...when }, payerOf(message));
  }

  function drop(topic: string): void {
    forgetNode(root, topic.split('/'));
    size -= 1;
    mortal.delete(topic);
  }

  /** Takes over what the store has for a topic; undefined: nothing. It is stored already. */
  function renew(topic: string, message: Message | undefined): void {
    const known = of(topic);
    if (known !== undefined) {
      quota.release(known);
      drop(topic);
    }
    if (message === undefined) return;
    quota.add(message);
    put(message);
  }

  /**
   * Forgets all whose topic starts like this, which ends a level: from the first step on none is
   * found, and each step frees one.
   */
  function* forgetBelow(topicPrefix: string): Generator<void> {
    const levels = topicPrefix.slice(0, -1).split('/');
    const node = findNode(root, levels);
    const children = node?.children;
    if (node === undefined || children === undefined) return;
    node.children = undefined;
    if (node.value === undefined) forgetNode(root, levels);
    const below = { ...fromRoot(), isRoot: false };
    for (const message of walk({ children, value: undefined }, ['#'], below)) {
      if (message !== undefined) free(message);
      yield;
    }
  }

  /** Frees a message that left the tree; another one may have come in its place meanwhile. */
  function free(message: Message): void {
    const { topic } = message;
    quota.release(message);
    size -= 1;
    if (of(topic) !== undefined) return;
    mortal.delete(topic);
    journal.add({ kind: 'unretained', topic }, payerOf(message));
  }

  /**
   * Finds the messages that the filter includes, one after the other, as they are when asked for;
   * undefined after some topics that it does not include, so that the search can wait.
   */
  function* find(filter: string): Generator<Message | undefined> {
    for (const message of walk(root, filter.split('/'), fromRoot())) {
      const isExpired = message?.expiresAt !== undefined && message.expiresAt <= clock.now();
      yield isExpired ? undefined : message;
    }
  }

  /** Forgets what has expired, one message in a step. */
  function* expire(now: Instant): Generator<void> {
    for (const [topic, expiresAt] of mortal) {
      if (expiresAt > now) continue;
      forget(topic, now);
      yield;
    }
  }

  return {
    ...{ keep, of, forgetBelow, renew, find, expire },
    /** Restores a message that was kept before the start. */
    restore: (message: Message): void => renew(message.topic, message),
    get size() {
      return size;
    },
  };
}

/** Where a walk is. */
interface Place {
  readonly depth: number;
  readonly isRoot: boolean;
  /** Nodes that the walk has visited. */
  readonly looked: { nodes: number };
}

const fromRoot = (): Place => ({ depth: 0, isRoot: true, looked: { nodes: 0 } });
/** Nodes that the walk visits before other work has a slice. */
const nodesPerPause = 16;
const payerOf = (message: Message | undefined): Payer => message?.payer ?? payerAt('unknown');
/** A retained message without its texts and bytes, and each level of the tree that holds it. */
const messageBytes = 256;
const levelBytes = 320;

const sizeOf = (message: Message): number =>
  messageBytes +
  2 * message.topic.length +
  levelBytes * countLevels(message.topic) +
  bytesOfMessage(message);

/** The quota of retained messages, divided among their publishers. */
function createRetainedQuota(budgets: Budgets) {
  const entries = budgets.of('mqtt_retained');
  const bytes = budgets.of('mqtt_retained_bytes');
  return {
    take(message: Message): boolean {
      const payer = payerOf(message);
      if (entries.take(payer, 1) !== undefined) return false;
      if (bytes.take(payer, sizeOf(message)) === undefined) return true;
      entries.release(payer, 1);
      return false;
    },
    add(message: Message): void {
      entries.add(payerOf(message), 1);
      bytes.add(payerOf(message), sizeOf(message));
    },
    release(message: Message): void {
      entries.release(payerOf(message), 1);
      bytes.release(payerOf(message), sizeOf(message));
    },
  };
}

function* walk(
  node: TopicNode<Message>,
  wanted: readonly string[],
  { depth, isRoot, looked }: Place,
): Generator<Message | undefined> {
  const level = wanted[depth];
  if (level === undefined || level === '#') {
    // A # includes its parent level [MQTT-4.7.1-2], which is this node.
    if (node.value !== undefined) yield node.value;
    if (level === undefined) return;
  }
  const children = node.children;
  if (children === undefined) return;
  const below = { isRoot: false, looked };
  if (level !== '#' && level !== '+') {
    const child = level === undefined ? undefined : children.get(level);
    if (child !== undefined) yield* walk(child, wanted, { ...below, depth: depth + 1 });
    return;
  }
  for (const [name, child] of children) {
    // [MQTT-4.7.2-1]
    if (isRoot && name.startsWith('$')) continue;
    looked.nodes += 1;
    if (looked.nodes % nodesPerPause === 0) yield undefined;
    yield* walk(child, wanted, { ...below, depth: level === '#' ? depth : depth + 1 });
  }
}

/** Hands retained messages to new subscriptions, as fast as the client reads. */
export function createRetainedDelivery(options: {
  readonly retained: RetainedMessages;
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** Resolves when what other processes retained before is known here. Absent: there are none. */
  readonly heard?: (() => Promise<void>) | undefined;
}) {
  const { retained, outbound, clock, heard } = options;
  const slices = createFairSlices({ turnMs: limits.turnMs });
  /** Sessions that wait for their next slice. */
  const served = new Set<Session>();
  /** Subscriptions that wait for messages of other processes: of each session, by filter. */
  const waiting = new Map<Session, Map<string, Subscription>>();

  /**
   * Begins with those of this filter; once more, if it had begun already. Where other processes
   * serve, with what they had retained by now: when that is known here.
   */
  function start(session: Session, subscription: Subscription) {
    const { filter } = subscription;
    // A group gets none [MQTT5 4.8.2].
    if (readSharedFilter(filter) !== undefined) return;
    if (heard === undefined) return begin(session, subscription);
    const others = waiting.get(session);
    others?.set(filter, subscription);
    if (others !== undefined) return;
    const wanted = new Map([[filter, subscription]]);
    waiting.set(session, wanted);
    void beginWhenHeard(session, wanted, heard);
  }

  async function beginWhenHeard(
    session: Session,
    wanted: Map<string, Subscription>,
    heardOthers: () => Promise<void>,
  ): Promise<void> {
    while (wanted.size > 0 && !session.isEnded) {
      // Subscriptions that come meanwhile wait for the next round: they may want newer messages.
      const asked = [...wanted];
      await heardOthers();
      for (const [filter, subscription] of asked) {
        if (session.isEnded || wanted.get(filter) !== subscription) continue;
        wanted.delete(filter);
        begin(session, subscription);
      }
    }
    // At once: the next one would be added to a map that is no longer read.
    waiting.delete(session);
  }

  function begin(session: Session, subscription: Subscription): void {
    const { filter } = subscription;
    if (retained.size === 0) return;
    session.backlog ??= new Map();
    session.backlog.set(filter, { messages: retained.find(filter), subscription });
    goOn(session);
  }

  /** The subscription has ended. */
  function stop(session: Session, filter: string): void {
    waiting.get(session)?.delete(filter);
    session.backlog?.delete(filter);
    if (session.backlog?.size === 0) session.backlog = undefined;
  }

  /** Goes on: the client can take more again. */
  function goOn(session: Session): void {
    if (served.has(session)) return;
    served.add(session);
    void slices.next(session.payer).then(() => {
      served.delete(session);
      if (handSome(session)) goOn(session);
    });
  }

  /** Answers whether it has to be asked again; sockets and acknowledgements call goOn. */
  function handSome(session: Session): boolean {
    for (let handed = 0; handed < mqttLimits.retainedPerTurn; handed += 1) {
      if (session.backlog === undefined || session.link === undefined) return false;
      // No event calls goOn when a right was looked up.
      if (!hasRoom(session)) return session.admissions !== undefined;
      handOne(session);
    }
    return true;
  }

  function handOne(session: Session) {
    const [first] = session.backlog?.values() ?? [];
    if (first === undefined) return;
    const { messages, subscription } = first;
    const next = messages.next();
    if (next.done === true) return stop(session, subscription.filter);
    if (next.value === undefined) return;
    const { qos, identifier } = subscription;
    const terms = {
      qos: lower(next.value.qos, qos),
      retain: true,
      identifiers: identifier === 0 ? [] : [identifier],
    };
    outbound.offer(session, new Delivery(next.value, clock.now()), terms);
  }

  return { start, stop, goOn };
}

function hasRoom({ link, entries, admissions }: Session): boolean {
  return (
    link !== undefined &&
    link.writer.waitingBytes < mqttLimits.socketBufferBytesMax / 2 &&
    (entries?.size ?? 0) < mqttLimits.queuedMessagesMax / 2 &&
    (admissions?.length ?? 0) < mqttLimits.deliveriesWaitingMax / 2
  );
}
