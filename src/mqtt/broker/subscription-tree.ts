import type { Payer } from '../../domain/budgets/budget.ts';
import type { WantedValues } from '../../domain/members/wanted-values.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { readSharedFilter } from '../../lib/topic-filter.ts';
import type { Reach } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { Session } from './session.ts';
import { sourcesOf } from './value-sources.ts';

/** A session that gets the messages of a topic, with all its subscriptions that include it. */
export interface Target {
  readonly session: Session;
  readonly subscriptions: readonly Subscription[];
}

/** A group of which one member gets each message of a topic. */
export interface SharedTarget {
  /** Of whom it is, its name and its filter: the same at all processes. */
  readonly name: string;
  readonly members: readonly Target[];
  readonly turn: Turn;
}

/** The position of the next member in a group. */
interface Turn {
  /** Counts on for ever. */
  next: number;
  /** Set while rights are looked up: the messages that come meanwhile, in their order. */
  waiting?: (() => void)[] | undefined;
}

/** A recipient of messages: one session, or one of a group. */
export type Recipient = Target | SharedTarget;

/** The recipients of one payer. */
export interface PayerRecipients {
  readonly payer: Payer;
  /** There are at most so many. */
  readonly count: number;
  /** Walks the recipients as they are, though sessions come or go meanwhile. */
  recipients(): Iterator<Recipient>;
  /** Whether a session of them is kept on disk. */
  isDurable(): boolean;
}

export interface Match {
  /** There are at most so many. */
  readonly count: number;
  /** All of them, when they are few. */
  readonly few: readonly Recipient[] | undefined;
  /** The same, by the payer of the sessions. */
  byPayer(): readonly PayerRecipients[];
}

/** Subscriptions whose filter ends at a node, by the payers of the sessions. */
interface Leaf {
  readonly payers: Map<Payer, Own>;
  /** Sessions and groups of all payers. */
  count: number;
}

/** Subscriptions of one payer. */
interface Own {
  readonly sessions: Map<Session, Target>;
  /** By their names. */
  groups: Map<string, Group> | undefined;
}

class Group implements SharedTarget {
  readonly name: string;
  readonly sessions = new Map<Session, Target>();
  readonly turn: Turn = { next: 0 };
  #members: readonly Target[] | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get members(): readonly Target[] {
    this.#members ??= [...this.sessions.values()];
    return this.#members;
  }

  changed(): void {
    this.#members = undefined;
  }
}

type Node = TopicNode<Leaf>;
const nobody: Match = { count: 0, few: [], byPayer: () => [] };
export type SubscriptionTree = ReturnType<typeof createSubscriptionTree>;

/** The subscriptions of all sessions, found by topic; `count` is called as they come and end. */
export function createSubscriptionTree(count?: WantedValues['count']) {
  const root: Node = { children: undefined, value: undefined };
  // As each change of a subscription empties them, there is no need to know what was used last.
  let matches = new Map<string, Match>();
  let namedMatches = new Map<string, Match>();
  /** Of what both remember: topics, and who gets their messages. */
  let remembered = 0;
  let places = 0;
  const allGroups = new Set<Group>();

  function add(session: Session, subscription: Subscription): void {
    const { group, filter } = split(subscription.filter);
    const node = nodeAt(root, filter.split('/'));
    node.value ??= { payers: new Map(), count: 0 };
    if (addTo(node.value, session, subscription, group)) {
      tree.size += 1;
      count?.(sourcesOf([filter]), 1);
    }
    forget();
  }

  function remove(session: Session, text: string): void {
    const { group, filter } = split(text);
    const levels = filter.split('/');
    const leaf = findNode(root, levels)?.value;
    if (leaf !== undefined && removeFrom(leaf, session, group)) {
      tree.size -= 1;
      count?.(sourcesOf([filter]), -1);
    }
    forget();
    if (leaf?.payers.size === 0) forgetNode(root, levels);
  }

  /** Answers whether the session did not have the subscription before. */
  function addTo(
    leaf: Leaf,
    session: Session,
    subscription: Subscription,
    name: string | undefined,
  ): boolean {
    const { payer } = session;
    const own = leaf.payers.get(payer) ?? { sessions: new Map(), groups: undefined };
    leaf.payers.set(payer, own);
    let { sessions } = own;
    if (name !== undefined) {
      own.groups ??= new Map();
      const group = own.groups.get(name) ?? new Group(JSON.stringify([payer, subscription.filter]));
      own.groups.set(name, group);
      allGroups.add(group);
      group.changed();
      ({ sessions } = group);
    }
    const isNew = !sessions.has(session);
    // A group counts as one.
    if (isNew && (name === undefined || sessions.size === 0)) leaf.count += 1;
    sessions.set(session, { session, subscriptions: [subscription] });
    return isNew;
  }

  /** Answers whether the session had the subscription. */
  function removeFrom(leaf: Leaf, session: Session, name: string | undefined): boolean {
    const own = leaf.payers.get(session.payer);
    const group = name === undefined ? undefined : own?.groups?.get(name);
    const sessions = name === undefined ? own?.sessions : group?.sessions;
    if (own === undefined || sessions?.delete(session) !== true) return false;
    group?.changed();
    if (name === undefined || sessions.size === 0) leaf.count -= 1;
    if (group !== undefined && name !== undefined && sessions.size === 0) {
      own.groups?.delete(name);
      allGroups.delete(group);
    }
    if (own.sessions.size === 0 && (own.groups?.size ?? 0) === 0) leaf.payers.delete(session.payer);
    return true;
  }

  function forget(): void {
    remembered = 0;
    if (matches.size > 0) matches = new Map();
    if (namedMatches.size > 0) namedMatches = new Map();
  }

  function match(topic: string, reach: Reach = 'all'): Match {
    if (tree.size === 0) return nobody;
    const cache = reach === 'all' ? matches : namedMatches;
    const known = cache.get(topic);
    if (known !== undefined) return known;
    const leaves: Leaf[] = [];
    places += collect(root, { levels: topic.split('/'), reach }, 0, leaves);
    const found = leaves.length === 0 ? nobody : combine(leaves);
    const weight =
      1 + (found.few?.length ?? leaves.reduce((sum, { payers }) => sum + payers.size, 0));
    if (
      cache.size >= mqttLimits.topicCacheEntriesMax ||
      remembered + weight > mqttLimits.topicCacheRecipientsMax
    ) {
      forget();
    }
    remembered += weight;
    // Another map, when the one before was forgotten.
    (reach === 'all' ? matches : namedMatches).set(topic, found);
    return found;
  }

  const tree = {
    ...{ add, remove, match },
    /** How many subscriptions there are. */
    size: 0,
    hasSubscribers: (topic: string, reach?: Reach): boolean => match(topic, reach).count > 0,
    /** All groups of shared subscriptions. */
    groups: (): Iterable<SharedTarget> => allGroups,
    /** At how many places topics were searched, in all; remembered topics cost none. */
    get places() {
      return places;
    },
  };
  return tree;
}

/** The name of the group is the payer's own: no other payer gets its messages by that name. */
function split(text: string): { readonly group: string | undefined; readonly filter: string } {
  const shared = readSharedFilter(text);
  if (shared === undefined || shared === 'invalid') return { group: undefined, filter: text };
  return shared;
}

/** Finds subscriptions whose filter includes the topic; answers how many places it searched. */
function collect(
  node: Node,
  wanted: { readonly levels: readonly string[]; readonly reach: Reach },
  depth: number,
  found: Leaf[],
): number {
  const { levels, reach } = wanted;
  const { children } = node;
  const level = levels[depth];
  if (level === undefined && node.value !== undefined) found.push(node.value);
  if (children === undefined) return 1;
  // At the first level no wildcard matches a name with $ [MQTT-4.7.2-1].
  const mayBeWild = depth > 0 || !(level?.startsWith('$') ?? false);
  if (mayBeWild && reach === 'all') {
    const rest = children.get('#')?.value;
    if (rest !== undefined) found.push(rest);
  }
  if (level === undefined) return 1;
  let places = 1;
  const named = children.get(level);
  if (named !== undefined) places += collect(named, wanted, depth + 1, found);
  const mustBeNamed = reach === 'named' && depth === levels.length - 1;
  const any = mayBeWild && !mustBeNamed ? children.get('+') : undefined;
  if (any !== undefined) places += collect(any, wanted, depth + 1, found);
  return places;
}

function combine(leaves: readonly Leaf[]): Match {
  const count = leaves.reduce((sum, leaf) => sum + leaf.count, 0);
  let groups: readonly PayerRecipients[] | undefined;
  const byPayer = (): readonly PayerRecipients[] => {
    groups ??= recipientsByPayer(leaves);
    return groups;
  };
  const isFew = count <= mqttLimits.deliveriesAtOnceMax;
  const few = isFew
    ? byPayer().flatMap((group) => [...Iterator.from(group.recipients())])
    : undefined;
  return { count, few, byPayer };
}

function recipientsByPayer(leaves: readonly Leaf[]): readonly PayerRecipients[] {
  const found = new Map<Payer, Own[]>();
  for (const { payers } of leaves) {
    for (const [payer, own] of payers) {
      const known = found.get(payer);
      if (known === undefined) found.set(payer, [own]);
      else known.push(own);
    }
  }
  return [...found].map(([payer, owns]) => ({
    payer,
    count: owns.reduce((sum, own) => sum + own.sessions.size + (own.groups?.size ?? 0), 0),
    recipients: () => recipientsIn(owns),
    isDurable: () => owns.some(hasDurable),
  }));
}

function hasDurable({ sessions, groups }: Own): boolean {
  for (const { isDurable } of sessions.keys()) if (isDurable) return true;
  for (const { sessions } of groups?.values() ?? []) {
    for (const { isDurable } of sessions.keys()) if (isDurable) return true;
  }
  return false;
}

/** Each session once, at the first place where it is. */
function* recipientsIn(owns: readonly Own[]): Generator<Recipient> {
  const { length } = owns;
  const byFilter = length > 1 ? ownsByFilter(owns) : undefined;
  const seen = new Set<Session>();
  for (const { sessions, groups } of owns) {
    for (const target of sessions.values()) {
      if (byFilter === undefined) yield target;
      else if (!seen.has(target.session)) {
        seen.add(target.session);
        yield withOthers(target, byFilter);
      }
    }
    if (groups !== undefined) yield* groups.values();
  }
}

/** The places by their filters, which are the same for all sessions of one. */
function ownsByFilter(owns: readonly Own[]): ReadonlyMap<string, Own> {
  const found = new Map<string, Own>();
  for (const own of owns) {
    const [first] = own.sessions.values();
    const filter = first?.subscriptions[0]?.filter;
    if (filter !== undefined) found.set(filter, own);
  }
  return found;
}

/**
 * The target with its subscriptions of other places. A session has few filters, while those of
 * all may be at thousands of places: none of these is asked for each session.
 */
function withOthers(target: Target, byFilter: ReadonlyMap<string, Own>): Target {
  const { session } = target;
  const found: Subscription[] = [];
  const add = ({ sessions }: Own): void => {
    const [subscription] = sessions.get(session)?.subscriptions ?? [];
    if (subscription !== undefined) found.push(subscription);
  };
  const filters = session.subscriptions;
  if (filters === undefined || filters.size >= byFilter.size) {
    for (const own of byFilter.values()) add(own);
  } else {
    for (const filter of filters.keys()) {
      const own = byFilter.get(filter);
      if (own !== undefined) add(own);
    }
  }
  return found.length > 1 ? { session, subscriptions: found } : target;
}

/** A level of a tree of topics or of filters. */
export interface TopicNode<Value> {
  children: Map<string, TopicNode<Value>> | undefined;
  /** The value of the topic or filter that ends here. */
  value: Value | undefined;
}

/** The node of a topic, with those above it; makes the ones that are missing. */
export function nodeAt<Value>(root: TopicNode<Value>, levels: readonly string[]): TopicNode<Value> {
  let node = root;
  for (const level of levels) {
    node.children ??= new Map();
    let next = node.children.get(level);
    if (next === undefined) {
      next = { children: undefined, value: undefined };
      node.children.set(level, next);
    }
    node = next;
  }
  return node;
}

/** The node of a topic; undefined: the tree has none. */
export function findNode<Value>(
  root: TopicNode<Value>,
  levels: readonly string[],
): TopicNode<Value> | undefined {
  let node: TopicNode<Value> | undefined = root;
  for (const level of levels) node = node?.children?.get(level);
  return node;
}

/** Forgets the value of a topic, and nodes of its path that have neither value nor children. */
export function forgetNode<Value>(
  node: TopicNode<Value>,
  levels: readonly string[],
  depth = 0,
): void {
  const level = levels[depth];
  if (level === undefined) {
    node.value = undefined;
    return;
  }
  const child = node.children?.get(level);
  if (child === undefined) return;
  forgetNode(child, levels, depth + 1);
  if (child.value === undefined && child.children === undefined) node.children?.delete(level);
  if (node.children?.size === 0) node.children = undefined;
}
