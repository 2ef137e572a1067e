import { createBreather, runInSteps, yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import type { Broker, BrokerMetrics } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { reason } from '../packets/packet.ts';
import {
  type BrokerContext,
  type BrokerOptions,
  createBrokerContext,
  type Member,
} from './broker-context.ts';
import { Connection } from './connection.ts';
import { listenToOthers } from './others.ts';

/** A broker whose clocks can be checked by hand. */
export interface BrokerEngine extends Broker {
  /** Does the work of every second: keep alive, logins that ended, wills, expiry. */
  sweep(): void;
}

const sweepMs = 1_000;
/** The longest time that one sweep counts, however late it comes. */
const sweepStepMsMax = 2_000;
const sweepsPerRetained = 10;

/** Loads what the store keeps, and is ready for connections. */
export async function createBroker(options: BrokerOptions): Promise<BrokerEngine> {
  const context = createBrokerContext(options);
  const { tree, retained, router, journal, handOnShares, registry, wills } = context;
  const stored = await options.store.load();
  for (const session of stored.sessions) {
    restore(options.log, { clientId: session.clientId }, () => registry.restore(session));
  }
  for (const message of stored.retained) {
    restore(options.log, { topic: message.topic }, () => retained.restore(message));
  }
  const { cluster } = context;
  const lookAgain = cluster && listenToOthers(cluster.peers, { ...cluster, context });
  const sweep = createSweep(context);
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
    hasSubscribers: tree.hasSubscribers,
    hasAnySubscriber: () => tree.size > 0,
    isBehind: handOnShares.isSpent,
    turnOf: handOnShares.turnOf,
    async retain(message) {
      retained.keep(message);
      await journal.synced();
    },
    findRetained: retained.of,
    renewRetained(message) {
      if (retained.of(message.topic) !== undefined) retained.keep(message);
    },
    async forgetRetained(topicPrefix) {
      await runInSteps(retained.forgetBelow(topicPrefix));
      await journal.synced();
    },
    endSessions: (isGone) => endSessions(context, isGone),
    recheck(isConcerned) {
      for (const { client } of context.members) {
        // A client that is gone ends its connection itself.
        if (client !== undefined && isConcerned(client.identity)) client.isGone();
      }
    },
    adoptSessions: async () =>
      context.ownership === undefined
        ? wills.restore(stored.wills ?? [], (key) => registry.find(key) !== undefined)
        : context.ownership.adopt(),
    lookAgain: () => lookAgain?.(),
    metrics: () => metricsOf(context),
    sweep,
    async close() {
      clearInterval(timer);
      options.others?.peers.rest();
      await closeAll(context);
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

function createSweep(context: BrokerContext): () => void {
  const { awake, clock, members, wills, registry, retained } = context;
  let sweptAt = clock.now();
  let sweeps = 0;
  return () => {
    const now = clock.now();
    awake.ms += Math.max(0, Math.min(now - sweptAt, sweepStepMsMax));
    sweptAt = now;
    for (const member of members) member.sweep(awake.ms);
    shedSlowest(members);
    wills.sweep(now);
    void context.ownership?.adopt();
    context.claims?.sweep();
    for (const { key } of registry.expire(now)) wills.publishNow(key);
    sweeps += 1;
    // An account may have a hundred thousand that expire at once.
    if (sweeps % sweepsPerRetained === 0) void runInSteps(retained.expire(now));
  };
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
    await breathe();
  }
  const ended = context.registry.ofIdentities(isGone);
  // Sessions that end here must not get what another one of them leaves to its group.
  for (const session of ended) session.expiresAt = 0;
  for (const session of ended) {
    context.wills.cancel(session.key);
    context.registry.end(session);
    await breathe();
  }
  await context.journal.synced();
}

function metricsOf(context: BrokerContext): BrokerMetrics {
  const { counters, members, registry, tree, retained } = context;
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

async function closeAll(context: BrokerContext): Promise<void> {
  const { members, wills, registry, ownership, claims, journal } = context;
  for (const member of [...members]) member.end(reason.shuttingDown);
  // Wills do not wait any longer for their clients to come back.
  // From now on nothing is waited for without end that the store does not take.
  await Promise.all([journal.finish(), claims?.finish(), ownership?.close(), wills.finish()]);
  // Changes that follow from wills published a moment ago are in the journal then.
  await yieldToEventLoop();
  await claims?.finish();
  // A value whose packet id is kept as handed on has to reach kept sessions before the broker ends.
  const underWay = registry
    .ofIdentities(() => true)
    .flatMap(({ received }) => [...(received?.values() ?? [])]);
  await Promise.all([Promise.allSettled(underWay), journal.finish()]);
  await journal.finish();
}
