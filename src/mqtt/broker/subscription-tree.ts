import type { Payer } from '../../domain/budgets/payer.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { readSharedFilter } from '../../lib/topic-filter.ts';
import type { Reach } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { Session } from './session.ts';

/** A session that gets the messages of a topic, with all its subscriptions that include it. */
export interface Target {
  readonly session: Session;
  readonly subscriptions: readonly Subscription[];
}

/** A group of which one member gets each message of a topic. */
export interface SharedTarget {
  readonly members: readonly Target[];
  readonly turn: Turn;
}

/** Whose turn it is in a group. */
export interface Turn {
  /** Counts on for ever. */
  next: number;
  /** Set while rights are looked up: the messages that come meanwhile, in their order. */
  waiting?: (() => void)[] | undefined;
}

/** The sessions of one payer that get it. */
export interface PayerTargets {
  readonly payer: Payer;
  readonly targets: readonly Target[];
}

export interface Match {
  readonly targets: readonly Target[];
  /** The same, by who pays for the sessions. */
  byPayer(): readonly PayerTargets[];
  readonly shared: readonly SharedTarget[];
}

/** Who subscribed to what, found by topic. */
export interface SubscriptionTree {
  add(session: Session, subscription: Subscription): void;
  remove(session: Session, filter: string): void;
  match(topic: string, reach?: Reach): Match;
  readonly size: number;
}

interface Leaf {
  readonly plain: Map<Session, Subscription>;
  /** By the payer and the name of the group. */
  readonly groups: Map<string, { members: Map<Session, Subscription>; turn: Turn }>;
}

interface Node {
  children: Map<string, Node> | undefined;
  /** Those whose filter ends here. */
  leaf: Leaf | undefined;
}

const nobody: Match = { targets: [], shared: [], byPayer: () => [] };

export function createSubscriptionTree(): SubscriptionTree {
  const root: Node = { children: undefined, leaf: undefined };
  // As each change of a subscription empties them, there is no need to know what was used last.
  let matches = new Map<string, Match>();
  let namedMatches = new Map<string, Match>();
  let size = 0;

  function add(session: Session, subscription: Subscription): void {
    const { group, filter } = split(session, subscription.filter);
    const leaf = leafAt(root, filter);
    const members = membersOf(leaf, group);
    if (!members.has(session)) size += 1;
    members.set(session, subscription);
    forget();
  }

  function remove(session: Session, text: string): void {
    const { group, filter } = split(session, text);
    if (removeFrom(root, { session, group, levels: filter.split('/') }, 0)) size -= 1;
    forget();
  }

  function forget(): void {
    if (matches.size > 0) matches = new Map();
    if (namedMatches.size > 0) namedMatches = new Map();
  }

  function match(topic: string, reach: Reach = 'all'): Match {
    if (size === 0) return nobody;
    const cache = reach === 'all' ? matches : namedMatches;
    const known = cache.get(topic);
    if (known !== undefined) return known;
    const leaves: Leaf[] = [];
    collect(root, { levels: topic.split('/'), reach }, 0, leaves);
    const found = leaves.length === 0 ? nobody : combine(leaves);
    if (cache.size >= mqttLimits.topicCacheEntriesMax) cache.clear();
    cache.set(topic, found);
    return found;
  }

  return {
    add,
    remove,
    match,
    get size() {
      return size;
    },
  };
}

/** A group is one of its payer: nobody takes the messages of a group by taking its name. */
function split(
  { payer }: Session,
  text: string,
): { readonly group: string | undefined; readonly filter: string } {
  const shared = readSharedFilter(text);
  if (shared === undefined || shared === 'invalid') return { group: undefined, filter: text };
  return { group: `${payer}/${shared.group}`, filter: shared.filter };
}

function leafAt(root: Node, filter: string): Leaf {
  let node = root;
  for (const level of filter.split('/')) {
    node.children ??= new Map();
    let next = node.children.get(level);
    if (next === undefined) {
      next = { children: undefined, leaf: undefined };
      node.children.set(level, next);
    }
    node = next;
  }
  node.leaf ??= { plain: new Map(), groups: new Map() };
  return node.leaf;
}

function membersOf(leaf: Leaf, group: string | undefined): Map<Session, Subscription> {
  if (group === undefined) return leaf.plain;
  let found = leaf.groups.get(group);
  if (found === undefined) {
    found = { members: new Map(), turn: { next: 0 } };
    leaf.groups.set(group, found);
  }
  return found.members;
}

/** Takes the subscription out, and every node that held nothing else. */
function removeFrom(
  node: Node,
  wanted: {
    readonly session: Session;
    readonly group: string | undefined;
    readonly levels: readonly string[];
  },
  depth: number,
): boolean {
  const level = wanted.levels[depth];
  if (level === undefined) return removeFromLeaf(node, wanted);
  const child = node.children?.get(level);
  if (child === undefined) return false;
  const isRemoved = removeFrom(child, wanted, depth + 1);
  if (child.leaf === undefined && child.children === undefined) node.children?.delete(level);
  if (node.children?.size === 0) node.children = undefined;
  return isRemoved;
}

function removeFromLeaf(
  node: Node,
  { session, group }: { readonly session: Session; readonly group: string | undefined },
): boolean {
  const { leaf } = node;
  if (leaf === undefined) return false;
  const members = group === undefined ? leaf.plain : leaf.groups.get(group)?.members;
  const isRemoved = members?.delete(session) ?? false;
  if (group !== undefined && members?.size === 0) leaf.groups.delete(group);
  if (leaf.plain.size === 0 && leaf.groups.size === 0) node.leaf = undefined;
  return isRemoved;
}

function collect(
  node: Node,
  wanted: { readonly levels: readonly string[]; readonly reach: Reach },
  depth: number,
  found: Leaf[],
): void {
  const { levels, reach } = wanted;
  const { children } = node;
  const level = levels[depth];
  if (level === undefined && node.leaf !== undefined) found.push(node.leaf);
  if (children === undefined) return;
  // At the first level no wildcard stands for a name with $ [MQTT-4.7.2-1].
  const mayBeWild = depth > 0 || !(level?.startsWith('$') ?? false);
  if (mayBeWild && reach === 'all') {
    const rest = children.get('#')?.leaf;
    if (rest !== undefined) found.push(rest);
  }
  if (level === undefined) return;
  const named = children.get(level);
  if (named !== undefined) collect(named, wanted, depth + 1, found);
  const mustBeNamed = reach === 'named' && depth === levels.length - 1;
  const any = mayBeWild && !mustBeNamed ? children.get('+') : undefined;
  if (any !== undefined) collect(any, wanted, depth + 1, found);
}

function combine(leaves: readonly Leaf[]): Match {
  const bySession = new Map<Session, Subscription[]>();
  const shared: SharedTarget[] = [];
  for (const { plain, groups } of leaves) {
    for (const [session, subscription] of plain) {
      const known = bySession.get(session);
      if (known === undefined) bySession.set(session, [subscription]);
      else known.push(subscription);
    }
    for (const { members, turn } of groups.values()) {
      const list = [...members].map(([session, subscription]) => ({
        session,
        subscriptions: [subscription],
      }));
      shared.push({ members: list, turn });
    }
  }
  const targets = [...bySession].map(([session, subscriptions]) => ({ session, subscriptions }));
  let groups: readonly PayerTargets[] | undefined;
  const byPayer = (): readonly PayerTargets[] => {
    groups ??= [...Map.groupBy(targets, ({ session }) => session.payer)].map(([payer, own]) => ({
      payer,
      targets: own,
    }));
    return groups;
  };
  return { targets, shared, byPayer };
}
