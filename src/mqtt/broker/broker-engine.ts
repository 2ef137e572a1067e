import { limits } from '../../domain/limits.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { SessionStore } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Authority } from '../authority.ts';
import type { Broker, BrokerFigures } from '../broker.ts';
import type { Flusher, Outbox } from '../packets/outbox.ts';
import { reason } from '../packets/reason-codes.ts';
import { Connection } from './connection.ts';
import { createCounters } from './counters.ts';
import { createIntake } from './intake.ts';
import { createJournal } from './journal.ts';
import { createMessageQueue } from './message-queue.ts';
import { createOutbound } from './outbound.ts';
import type { Member, Parts } from './parts.ts';
import { createRetainedMessages, type RetainedMessages } from './retained.ts';
import { createRetainedDelivery } from './retained-backlog.ts';
import { createRouter, type Router } from './router.ts';
import { createSessionRegistry } from './session-registry.ts';
import { createSubscriptionTree, type SubscriptionTree } from './subscription-tree.ts';
import { createWills, type PendingWill } from './wills.ts';

export interface BrokerOptions {
  readonly authority: Authority;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** A broker whose clocks can be looked at by hand. */
export interface BrokerEngine extends Broker {
  /** What happens every second: keep alive, logins that ended, wills, expiry. */
  sweep(): void;
}

interface Engine {
  readonly parts: Parts;
  readonly tree: SubscriptionTree;
  readonly retained: RetainedMessages;
  readonly router: Router;
  /** Wills the house has not answered. */
  readonly underWay: Set<Promise<void>>;
  /** When sweep() was called last. */
  sweptAt: Instant;
}

const sweepMs = 1_000;
/** What a sweep that comes late counts for. */
const sweepStepMsMax = 2_000;
const sweepsPerExpiry = 10;

/** Loads what the store keeps, and is ready for connections. */
export async function createBroker(options: BrokerOptions): Promise<BrokerEngine> {
  const engine = buildEngine(options);
  const { parts, tree, retained, router } = engine;
  const stored = await options.store.load();
  for (const session of stored.sessions) parts.registry.restore(session);
  for (const message of stored.retained) retained.restore(message);
  let sweeps = 0;
  const sweep = () => {
    sweeps += 1;
    sweepOnce(engine, sweeps % sweepsPerExpiry === 0);
  };
  const timer = setInterval(sweep, sweepMs).unref();
  return {
    accept(transport, address) {
      const connection = new Connection(parts, transport, address);
      parts.members.add(connection);
      return connection;
    },
    deliver(messages, reach) {
      for (const message of messages) router.route(message, reach);
    },
    hasSubscribers(topic, reach) {
      const { targets, shared } = tree.match(topic, reach);
      return targets.length > 0 || shared.length > 0;
    },
    async retain(message) {
      retained.keep(message);
      await parts.journal.synced();
    },
    renewRetained(message) {
      if (retained.has(message.topic)) retained.keep(message);
    },
    async forgetRetained(topicPrefix) {
      retained.forgetBelow(topicPrefix);
      await parts.journal.synced();
    },
    endIdentity: (identity, { forget }) => endIdentity(parts, identity, forget),
    figures: () => figuresOf(engine),
    sweep,
    async close() {
      clearInterval(timer);
      await closeAll(engine);
    },
  };
}

function buildEngine({ authority, store, clock, log }: BrokerOptions): Engine {
  const counters = createCounters();
  const journal = createJournal({ store, log });
  const tree = createSubscriptionTree();
  const queue = createMessageQueue({ journal, counters, clock });
  const outbound = createOutbound({ authority, queue, journal, counters });
  const router = createRouter({ tree, outbound, journal, counters, clock });
  const retained = createRetainedMessages({ journal, clock });
  const intake = createIntake({ router, retained, counters });
  const underWay = new Set<Promise<void>>();
  const wills = createWills((will) => {
    const published = publishWill(will, { clock, intake });
    if (published === undefined) return;
    underWay.add(published);
    void published.finally(() => underWay.delete(published));
  });
  const parts: Parts = {
    authority,
    clock,
    log,
    counters,
    journal,
    queue,
    intake,
    registry: createSessionRegistry({ tree, queue, journal, counters, clock }),
    retainedDelivery: createRetainedDelivery({ retained, outbound, clock }),
    wills,
    frameLimits: {
      packetBytesMax: limits.mqttPacketBytesMax,
      largePacketBytesMax: limits.mqttValuesPacketBytesMax,
      isLarge: (topic) => topic.endsWith('/values'),
      room: { usedBytes: 0, bytesMax: limits.mqttPartialPacketsBytesMax },
    },
    flusher: createFlusher(),
    awake: { ms: 0 },
    members: new Set(),
  };
  return { parts, tree, retained, router, underWay, sweptAt: clock.now() };
}

/** One setImmediate for everybody who has something to send. */
function createFlusher(): Flusher {
  let outboxes: Outbox[] = [];
  function flush(): void {
    const list = outboxes;
    outboxes = [];
    for (const outbox of list) outbox.flush();
  }
  return {
    add(outbox) {
      outboxes.push(outbox);
      if (outboxes.length === 1) setImmediate(flush);
    },
  };
}

/** The house is asked as for any publish, with the rights of this moment. */
function publishWill(
  { client, message, expirySeconds }: PendingWill,
  { clock, intake }: Pick<Parts, 'clock' | 'intake'>,
): Promise<void> | undefined {
  const sent: Message =
    expirySeconds === undefined
      ? message
      : { ...message, expiresAt: clock.now() + expirySeconds * 1_000 };
  const outcome = client.publish(sent);
  if (!(outcome instanceof Promise)) {
    intake.finish(sent, outcome);
    return undefined;
  }
  return outcome.then(
    (settled) => {
      intake.finish(sent, settled);
    },
    // A client that is gone cannot be told, and cannot send it again.
    () => undefined,
  );
}

function sweepOnce(engine: Engine, isExpiryDue: boolean): void {
  const { parts, retained } = engine;
  const { awake, clock, members, wills, registry } = parts;
  const now = clock.now();
  awake.ms += Math.max(0, Math.min(now - engine.sweptAt, sweepStepMsMax));
  engine.sweptAt = now;
  for (const member of members) member.sweep(awake.ms);
  shedSlowest(members);
  wills.sweep(now);
  if (!isExpiryDue) return;
  for (const { key } of registry.expire(now)) wills.publishNow(key);
  retained.expire(now);
}

/** Clients that do not read must not use up the memory of all, however many they are. */
function shedSlowest(members: ReadonlySet<Member>): void {
  let bytes = 0;
  for (const { waitingBytes } of members) bytes += waitingBytes;
  if (bytes <= limits.mqttSocketBuffersBytesMax) return;
  const slowest = [...members].sort((one, other) => other.waitingBytes - one.waitingBytes);
  for (const member of slowest) {
    if (bytes <= limits.mqttSocketBuffersBytesMax / 2) return;
    bytes -= member.waitingBytes;
    member.abort(reason.quotaExceeded);
  }
}

async function endIdentity(parts: Parts, identity: string, forget: boolean): Promise<void> {
  for (const member of [...parts.members]) {
    if (member.identity === identity) {
      member.end(reason.notAuthorized, 'the login is not valid any more');
    }
  }
  if (forget) {
    for (const session of parts.registry.ofIdentity(identity)) {
      parts.wills.cancel(session.key);
      parts.registry.end(session);
    }
  }
  await parts.journal.synced();
}

function figuresOf({ parts, tree, retained }: Engine): BrokerFigures {
  const { counters, members, registry } = parts;
  let { bytesSent } = counters;
  for (const { bytesWritten } of members) bytesSent += bytesWritten;
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

async function closeAll({ parts, underWay }: Engine): Promise<void> {
  for (const member of [...parts.members]) member.end(reason.shuttingDown);
  // Whoever waited for somebody to come back waits no longer.
  parts.wills.publishAll();
  await Promise.all(underWay);
  await parts.journal.finish();
}
