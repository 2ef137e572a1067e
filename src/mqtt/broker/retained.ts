import type { Budgets } from '../../domain/budgets/budgets.ts';
import { type Payer, payerAt } from '../../domain/budgets/payer.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import { ownMessage } from './delivery.ts';
import type { Journal } from './journal.ts';

/** The last retained message of each topic. */
export interface RetainedMessages {
  /** Keeps or, without a payload, forgets [MQTT-3.3.1-6]; false: the quota is used up. */
  keep(message: Message): boolean;
  has(topic: string): boolean;
  /** The message of this topic, as it is kept. */
  of(topic: string): Message | undefined;
  /**
   * Forgets all whose topic starts like this, which ends a level: from the first step on none is
   * found, and each step frees one.
   */
  forgetBelow(topicPrefix: string): Generator<void>;
  /**
   * Finds the messages that the filter includes, one after the other, as they are when asked for;
   * undefined after some topics that it does not include, so that the search can wait.
   */
  find(filter: string): Generator<Message | undefined>;
  /** Forgets what has expired, one message in a step. */
  expire(now: Instant): Generator<void>;
  /** Takes over what the store has for a topic; undefined: nothing. It is stored already. */
  renew(topic: string, message: Message | undefined): void;
  /** Restores a message that was kept before the start. */
  restore(message: Message): void;
  readonly size: number;
}

interface Node {
  children: Map<string, Node> | undefined;
  message: Message | undefined;
}

export function createRetainedMessages(options: {
  readonly journal: Journal;
  readonly budgets: Budgets;
  readonly clock: Clock;
}): RetainedMessages {
  const { journal, clock } = options;
  const room = createRetainedQuota(options.budgets);
  const root: Node = { children: undefined, message: undefined };
  /** Expiry of the messages that have one, by topic. */
  const mortal = new Map<string, Instant>();
  let size = 0;

  function put(message: Message): void {
    const node = nodeAt(root, message.topic);
    size += node.message === undefined ? 1 : 0;
    node.message = message;
    if (message.expiresAt === undefined) mortal.delete(message.topic);
    else mortal.set(message.topic, message.expiresAt);
  }

  function keep(message: Message): boolean {
    const { topic } = message;
    if (message.payload.length === 0) {
      forget(topic);
      return true;
    }
    const known = findNode(root, topic)?.message;
    if (known !== undefined) room.release(known);
    // A message that the service itself renews belongs to the payer that had it retained.
    const { origin: _, ...kept } = ownMessage(message);
    const own = { ...kept, payer: message.payer ?? payerOf(known) };
    if (message.payer !== undefined && !room.take(own)) {
      // No client is to take an older state for the last one.
      if (known !== undefined) forgetCounted(known);
      return false;
    }
    if (message.payer === undefined) room.add(own);
    put(own);
    journal.add({ kind: 'retained', message: own }, own.payer);
    return true;
  }

  function forget(topic: string, expiredAt?: Instant): void {
    const known = findNode(root, topic)?.message;
    if (known === undefined) return;
    room.release(known);
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
    removeFrom(root, topic.split('/'), 0);
    size -= 1;
    mortal.delete(topic);
  }

  function renew(topic: string, message: Message | undefined): void {
    const known = findNode(root, topic)?.message;
    if (known !== undefined) {
      room.release(known);
      drop(topic);
    }
    if (message === undefined) return;
    room.add(message);
    put(message);
  }

  function* forgetBelow(topicPrefix: string): Generator<void> {
    const parent = topicPrefix.slice(0, -1);
    const node = findNode(root, parent);
    const children = node?.children;
    if (node === undefined || children === undefined) return;
    node.children = undefined;
    if (node.message === undefined) removeFrom(root, parent.split('/'), 0);
    const below = { ...fromRoot(), isRoot: false };
    for (const message of walk({ children, message: undefined }, ['#'], below)) {
      if (message !== undefined) free(message);
      yield;
    }
  }

  /** Frees a message that left the tree; another one may have come in its place meanwhile. */
  function free(message: Message): void {
    const { topic } = message;
    room.release(message);
    size -= 1;
    if (findNode(root, topic)?.message !== undefined) return;
    mortal.delete(topic);
    journal.add({ kind: 'unretained', topic }, payerOf(message));
  }

  function* find(filter: string): Generator<Message | undefined> {
    for (const message of walk(root, filter.split('/'), fromRoot())) {
      const isExpired = message?.expiresAt !== undefined && message.expiresAt <= clock.now();
      yield isExpired ? undefined : message;
    }
  }

  function* expire(now: Instant): Generator<void> {
    for (const [topic, expiresAt] of mortal) {
      if (expiresAt > now) continue;
      forget(topic, now);
      yield;
    }
  }

  return {
    keep,
    has: (topic) => findNode(root, topic)?.message !== undefined,
    of: (topic) => findNode(root, topic)?.message,
    forgetBelow,
    renew,
    find,
    expire,
    restore: (message) => renew(message.topic, message),
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

function sizeOf({ topic, payload, properties }: Message): number {
  const texts = 2 * topic.length + levelBytes * countLevels(topic);
  return messageBytes + texts + payload.length + (properties?.length ?? 0);
}

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

function nodeAt(root: Node, topic: string): Node {
  let node = root;
  for (const level of topic.split('/')) {
    node.children ??= new Map();
    let next = node.children.get(level);
    if (next === undefined) {
      next = { children: undefined, message: undefined };
      node.children.set(level, next);
    }
    node = next;
  }
  return node;
}

function findNode(root: Node, topic: string): Node | undefined {
  let node: Node | undefined = root;
  for (const level of topic.split('/')) node = node?.children?.get(level);
  return node;
}

function removeFrom(node: Node, levels: readonly string[], depth: number): Message | undefined {
  const level = levels[depth];
  if (level === undefined) {
    const { message } = node;
    node.message = undefined;
    return message;
  }
  const child = node.children?.get(level);
  if (child === undefined) return undefined;
  const removed = removeFrom(child, levels, depth + 1);
  if (child.message === undefined && child.children === undefined) node.children?.delete(level);
  if (node.children?.size === 0) node.children = undefined;
  return removed;
}

function* walk(
  node: Node,
  wanted: readonly string[],
  { depth, isRoot, looked }: Place,
): Generator<Message | undefined> {
  const level = wanted[depth];
  if (level === undefined || level === '#') {
    // A # includes its parent level [MQTT-4.7.1-2], which is this node.
    if (node.message !== undefined) yield node.message;
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
