import { limits } from '../../domain/limits.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { ownMessage } from './delivery.ts';
import type { Journal } from './journal.ts';

/** The last retained message of each topic. */
export interface RetainedMessages {
  /** Keeps or, without a payload, forgets [MQTT-3.3.1-6]; false: there is no room. */
  keep(message: Message): boolean;
  has(topic: string): boolean;
  /** Forgets all whose topic starts like this. */
  forgetBelow(topicPrefix: string): void;
  /** Those that the filter includes, one after the other, as they are when they are asked for. */
  find(filter: string): Generator<Message>;
  /** Forgets what has expired. */
  expire(now: Instant): void;
  /** What was kept before the start. */
  restore(message: Message): void;
  readonly size: number;
}

interface Node {
  children: Map<string, Node> | undefined;
  message: Message | undefined;
}

export function createRetainedMessages(options: {
  readonly journal: Journal;
  readonly clock: Clock;
}): RetainedMessages {
  const { journal, clock } = options;
  const root: Node = { children: undefined, message: undefined };
  /** Those that expire, by topic. */
  const mortal = new Map<string, Instant>();
  let size = 0;
  let bytes = 0;

  function put(message: Message): void {
    const node = nodeAt(root, message.topic);
    size += node.message === undefined ? 1 : 0;
    bytes += sizeOf(message) - sizeOf(node.message);
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
    const isFull =
      size >= limits.mqttRetainedMessagesMax ||
      bytes + sizeOf(message) > limits.mqttRetainedBytesMax;
    if (isFull && findNode(root, topic)?.message === undefined) return false;
    const own = ownMessage(message);
    put(own);
    journal.add({ kind: 'retained', message: own });
    return true;
  }

  function forget(topic: string): void {
    const removed = removeFrom(root, topic.split('/'), 0);
    if (removed === undefined) return;
    size -= 1;
    bytes -= sizeOf(removed);
    mortal.delete(topic);
    journal.add({ kind: 'unretained', topic });
  }

  function forgetBelow(topicPrefix: string): void {
    const at = topicPrefix.lastIndexOf('/');
    const filter = at === -1 ? '#' : `${topicPrefix.slice(0, at)}/#`;
    const topics = [...walk(root, filter.split('/'), fromRoot)].map(({ topic }) => topic);
    for (const topic of topics) if (topic.startsWith(topicPrefix)) forget(topic);
  }

  function* find(filter: string): Generator<Message> {
    for (const message of walk(root, filter.split('/'), fromRoot)) {
      if (message.expiresAt === undefined || message.expiresAt > clock.now()) yield message;
    }
  }

  function expire(now: Instant): void {
    for (const [topic, expiresAt] of mortal) if (expiresAt <= now) forget(topic);
  }

  return {
    keep,
    has: (topic) => findNode(root, topic)?.message !== undefined,
    forgetBelow,
    find,
    expire,
    restore: put,
    get size() {
      return size;
    },
  };
}

const fromRoot = { depth: 0, isRoot: true };

const sizeOf = (message: Message | undefined): number =>
  message === undefined
    ? 0
    : message.topic.length + message.payload.length + (message.properties?.length ?? 0);

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
  { depth, isRoot }: { readonly depth: number; readonly isRoot: boolean },
): Generator<Message> {
  const level = wanted[depth];
  if (level === undefined || level === '#') {
    // A # includes its parent level [MQTT-4.7.1-2], which is where the walk stands.
    if (node.message !== undefined) yield node.message;
    if (level === undefined) return;
  }
  const children = node.children;
  if (children === undefined) return;
  if (level !== '#' && level !== '+') {
    const child = level === undefined ? undefined : children.get(level);
    if (child !== undefined) yield* walk(child, wanted, { depth: depth + 1, isRoot: false });
    return;
  }
  for (const [name, child] of children) {
    // [MQTT-4.7.2-1]
    if (isRoot && name.startsWith('$')) continue;
    yield* walk(child, wanted, { depth: level === '#' ? depth : depth + 1, isRoot: false });
  }
}
