import type { Budgets } from '../../domain/budgets/budgets.ts';
import type { Peers } from '../../domain/datapoints/peers.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { SessionStore, SharedSessions } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { createBreather, runInSteps } from '../../lib/event-loop.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import type { Broker, BrokerMetrics } from '../broker.ts';
import type { BrokerHooks } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import type { Flusher, PacketWriter } from '../packets/packet-writer.ts';
import { reason } from '../packets/reason-codes.ts';
import type { BrokerContext, Member } from './broker-context.ts';
import type { DeliverEvent } from './catch-up.ts';
import { Connection } from './connection.ts';
import { createCounters } from './counters.ts';
import { createHandOnShares } from './hand-on-shares.ts';
import { createJournal } from './journal.ts';
import { createMessageQueue } from './message-queue.ts';
import { listenToOthers, retainedNotes } from './others.ts';
import { createOutbound } from './outbound.ts';
import { createOwnership } from './ownership.ts';
import { createPublishCompletion } from './publish-completion.ts';
import { createQueueBudget } from './queue-budget.ts';
import { createRetainedMessages, type RetainedMessages } from './retained.ts';
import { createRetainedDelivery } from './retained-backlog.ts';
import { createRouter, type Router } from './router.ts';
import { createSessionQuotas } from './session-quotas.ts';
import { createSessionRegistry } from './session-registry.ts';
import { createShares } from './shares.ts';
import { createSubscriptionTree, type SubscriptionTree } from './subscription-tree.ts';
import { writeTalk } from './talk.ts';
import { createSlices } from './turns.ts';
import { createWills, type PendingWill, type Publication } from './wills.ts';
import { createWorkShares } from './work-shares.ts';

export interface BrokerOptions {
  readonly authority: BrokerHooks;
  readonly store: SessionStore;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  /** The brokers of other processes, where the store serves sessions to several. */
  readonly others?: { readonly peers: Peers; readonly deliverEvent: DeliverEvent } | undefined;
}

/** A broker whose clocks can be checked by hand. */
export interface BrokerEngine extends Broker {
  /** Does the work of every second: keep alive, logins that ended, wills, expiry. */
  sweep(): void;
}

interface Engine {
  readonly context: BrokerContext;
  readonly tree: SubscriptionTree;
  readonly retained: RetainedMessages;
  readonly router: Router;
  /** Wills the hooks have not answered. */
  readonly underWay: Set<Promise<Publication>>;
  /** When sweep() was called last. */
  sweptAt: Instant;
}

const sweepMs = 1_000;
/** The longest time that one sweep counts, however late it comes. */
const sweepStepMsMax = 2_000;
const sweepsPerRetained = 10;

/** Loads what the store keeps, and is ready for connections. */
export async function createBroker(options: BrokerOptions): Promise<BrokerEngine> {
  const engine = buildEngine(options);
  const { context, tree, retained, router } = engine;
  const stored = await options.store.load();
  for (const session of stored.sessions) {
    restore(options.log, { clientId: session.clientId }, () => context.registry.restore(session));
  }
  for (const message of stored.retained) {
    restore(options.log, { topic: message.topic }, () => retained.restore(message));
  }
  const { shared } = options.store;
  const lookAgain =
    shared &&
    options.others &&
    listenToOthers(options.others.peers, { ...engine, ...options.others, shared });
  let sweeps = 0;
  const sweep = () => {
    sweeps += 1;
    sweepOnce(engine, sweeps % sweepsPerRetained === 0);
  };
  const timer = setInterval(sweep, sweepMs).unref();
  return {
    accept(transport, address) {
      const connection = new Connection(context, transport, address);
      context.members.add(connection);
      return connection;
    },
    deliver(messages, reach) {
      for (const message of messages) router.route(message, reach);
    },
    hasSubscribers(topic, reach) {
      return tree.match(topic, reach).count > 0;
    },
    hasAnySubscriber: () => tree.size > 0,
    isBehind: context.handOnShares.isSpent,
    turnOf: context.handOnShares.turnOf,
    async retain(message) {
      retained.keep(message);
      await context.journal.synced();
    },
    findRetained: (topic) => retained.of(topic),
    renewRetained(message) {
      if (retained.has(message.topic)) retained.keep(message);
    },
    async forgetRetained(topicPrefix) {
      await runInSteps(retained.forgetBelow(topicPrefix));
      await context.journal.synced();
    },
    endSessions: (isGone) => endSessions(context, isGone),
    recheck(isConcerned) {
      for (const { client } of context.members) {
        // A client that is gone ends its connection itself.
        if (client !== undefined && isConcerned(client.identity)) client.isGone();
      }
    },
    adoptSessions: async () => context.ownership?.adopt(),
    lookAgain: () => lookAgain?.(),
    metrics: () => metricsOf(engine),
    sweep,
    async close() {
      clearInterval(timer);
      options.others?.peers.rest();
      await closeAll(engine);
    },
  };
}

/** Restores a session or message; one that fails stays in the store, and the rest still starts. */
function restore(log: Log, about: LogFields, take: () => void): void {
  try {
    take();
  } catch (error) {
    log.error({ ...about, err: error }, 'a kept session or message cannot be taken up');
  }
}

/** Where other processes may have members of groups. */
function openShares({ store: { shared }, others, log }: BrokerOptions, tree: SubscriptionTree) {
  if (shared === undefined || others === undefined) return undefined;
  const freedNote = others.peers.entryOf(writeTalk({ kind: 'freed' }));
  return createShares({ ...{ shared, log, freedNote }, groups: tree.groups });
}

function buildEngine(options: BrokerOptions): Engine {
  const { authority, store, budgets, clock, log, others } = options;
  const counters = createCounters();
  const journal = createJournal({
    ...{ store, room: budgets.of('mqtt_store_changes'), log },
    notesOf: others && retainedNotes(others.peers),
  });
  const tree = createSubscriptionTree();
  const { shared } = store;
  const claims = openShares(options, tree);
  const queue = createMessageQueue({
    ...{ journal, counters, clock, shares: claims },
    room: createQueueBudget(budgets.of('mqtt_queued_bytes')),
  });
  const outbound = createOutbound({ authority, queue, journal, counters, claims });
  const handOnShares = createHandOnShares();
  const router = createRouter({
    ...{ tree, outbound, journal, counters, shares: handOnShares, clock, claims },
  });
  const retained = createRetainedMessages({ journal, budgets, clock });
  const completion = createPublishCompletion({ router, retained, counters });
  const underWay = new Set<Promise<Publication>>();
  const publish = (will: PendingWill): Promise<Publication> => {
    const published = publishOwnWill(will, store.shared, { clock, completion, handOnShares });
    underWay.add(published);
    return published.finally(() => underWay.delete(published));
  };
  const wills = createWills(budgets.of('mqtt_will_bytes'), publish, ({ message, turn }, payer) => {
    const { publisher: key } = message;
    if (key !== undefined) journal.add({ kind: 'will_settled', key, turn }, payer);
  });
  const registry = createSessionRegistry({
    ...{ tree, queue, journal, clock },
    room: createSessionQuotas(budgets),
  });
  const ownership =
    shared === undefined || others === undefined || claims === undefined
      ? undefined
      : createOwnership({
          ...{ ...others, authority, shared, registry, outbound, journal, counters, wills },
          ...{ clock, log, claims },
        });
  const context: BrokerContext = {
    authority,
    clock,
    log,
    counters,
    journal,
    queue,
    completion,
    registry,
    ...{ ownership, claims },
    retainedDelivery: createRetainedDelivery({
      ...{ retained, outbound, clock },
      heard: ownership?.heard,
    }),
    wills,
    frameLimits: {
      packetBytesMax: mqttLimits.packetBytesMax,
      largePacketBytesMax: mqttLimits.valuesPacketBytesMax,
      bytesMaxOf: packetBytesMaxOf,
    },
    partialBytes: budgets.of('partial_bytes'),
    waiting: budgets.waiting,
    publishBytes: budgets.of('mqtt_publish_bytes'),
    workShares: createWorkShares(),
    handOnShares,
    readers: createSlices((reading) => {
      reading.goOn();
      return false;
    }),
    flusher: createFlusher(),
    awake: { ms: 0 },
    members: new Set(),
  };
  return { context, tree, retained, router, underWay, sweptAt: clock.now() };
}

/** An array of values and a web page on its way through a gateway may be larger than a value. */
function packetBytesMaxOf(topic: string): number {
  if (topic.endsWith('/values')) return mqttLimits.valuesPacketBytesMax;
  const isDeviceTopic = /^(devices|gateways)\/[^/]+\//.test(topic) && !topic.endsWith('/value');
  return isDeviceTopic ? mqttLimits.deviceTopicPacketBytesMax : mqttLimits.packetBytesMax;
}

/** Flushes all writers that have something to send in one setImmediate. */
function createFlusher(): Flusher {
  let outboxes: PacketWriter[] = [];
  function flush(): void {
    const list = outboxes;
    outboxes = [];
    for (const writer of list) writer.flush();
  }
  return {
    add(writer) {
      outboxes.push(writer);
      if (outboxes.length === 1) setImmediate(flush);
    },
  };
}

/** A will that another process took with its client is published there; no other takes this one. */
function publishOwnWill(
  will: PendingWill,
  shared: Pick<SharedSessions, 'beginWill'> | undefined,
  context: Parameters<typeof publishWill>[1],
): Promise<Publication> {
  const { publisher: key } = will.message;
  if (will.turn === 0 || shared === undefined || key === undefined) {
    return publishWill(will, context);
  }
  return shared.beginWill(key, will.turn).then(
    (isOwn) => (isOwn ? publishWill(will, context) : 'elsewhere'),
    () => 'unavailable',
  );
}

/** The hooks are asked as for any publish, with the rights of this moment. */
function publishWill(
  { client, message, expirySeconds, turn }: PendingWill,
  { clock, completion, handOnShares }: Pick<BrokerContext, 'clock' | 'completion' | 'handOnShares'>,
): Promise<Publication> {
  const sent: Message = {
    ...message,
    ...(expirySeconds !== undefined && { expiresAt: clock.now() + expirySeconds * 1_000 }),
    ...(turn > 0 && { willTurn: turn }),
  };
  return client.publish(sent).then(
    async (settled) => {
      if (settled.kind === 'unavailable') return 'unavailable';
      // Thousands of wills may be due at once.
      await handOnShares.turnOf(client.payer);
      completion.finish(sent, settled);
      return 'over';
    },
    // A client that is gone receives no answer, and cannot send it again.
    () => 'over',
  );
}

function sweepOnce(engine: Engine, isRetainedDue: boolean): void {
  const { context, retained } = engine;
  const { awake, clock, members, wills, registry } = context;
  const now = clock.now();
  awake.ms += Math.max(0, Math.min(now - engine.sweptAt, sweepStepMsMax));
  engine.sweptAt = now;
  for (const member of members) member.sweep(awake.ms);
  shedSlowest(members);
  wills.sweep(now);
  void context.ownership?.adopt();
  context.claims?.sweep();
  for (const { key } of registry.expire(now)) wills.publishNow(key);
  // An account may have a hundred thousand that expire at once.
  if (isRetainedDue) void runInSteps(retained.expire(now));
}

/** Clients that do not read must not use up the memory of all, however many they are. */
function shedSlowest(members: ReadonlySet<Member>): void {
  let bytes = 0;
  for (const { writer } of members) bytes += writer.waitingBytes;
  if (bytes <= mqttLimits.socketBuffersBytesMax) return;
  // The payer with the most over all its connections goes first, not the slowest connection.
  const byPayer = Map.groupBy(members, ({ input }) => input.payer);
  const groups = [...byPayer.values()].map((list) => ({ list, held: waitingOf(list) }));
  for (const { list } of groups.sort((one, other) => other.held - one.held)) {
    for (const member of list.sort(
      ({ writer: one }, { writer: other }) => other.waitingBytes - one.waitingBytes,
    )) {
      if (bytes <= mqttLimits.socketBuffersBytesMax / 2) return;
      bytes -= member.writer.waitingBytes;
      member.abort(reason.quotaExceeded);
    }
  }
}

const waitingOf = (members: readonly Member[]): number =>
  members.reduce((sum, { writer }) => sum + writer.waitingBytes, 0);

async function endSessions(
  context: BrokerContext,
  isGone: (identity: string) => boolean,
): Promise<void> {
  // An account may have tens of thousands of them, each with a hundred filters.
  const breathe = createBreather();
  for (const member of [...context.members]) {
    if (member.client === undefined || !isGone(member.client.identity)) continue;
    member.end(reason.notAuthorized, 'the login is not valid any more');
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  const ended = context.registry.ofIdentities(isGone);
  // Sessions that end here must not get what another one of them leaves to its group.
  for (const session of ended) session.expiresAt = 0;
  for (const session of ended) {
    context.wills.cancel(session.key);
    context.registry.end(session);
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  await context.journal.synced();
}

function metricsOf({ context, tree, retained }: Engine): BrokerMetrics {
  const { counters, members, registry } = context;
  let { bytesSent } = counters;
  for (const { writer } of members) bytesSent += writer.bytesWritten;
  return {
    ...counters,
    bytesSent,
    connections: members.size,
    sessions: registry.size,
    subscriptions: tree.size,
    retained: retained.size,
    dropped: { ...counters.dropped },
    closedByCode: new Map(counters.closedByCode),
  };
}

async function closeAll({ context, underWay }: Engine): Promise<void> {
  for (const member of [...context.members]) member.end(reason.shuttingDown);
  // Wills do not wait any longer for their clients to come back.
  context.wills.publishAll();
  await Promise.all(underWay);
  await context.ownership?.close();
  await context.claims?.finish();
  await context.journal.finish();
}
