import type { Payer } from '../../domain/budgets/budget.ts';
import type { Budgets } from '../../domain/budgets/budgets.ts';
import type { Peers } from '../../domain/datapoints/peers.ts';
import type { SessionStore } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { BrokerHooks, Client } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import type { FrameLimits } from '../packets/frame-reader.ts';
import { createFlusher, type PacketWriter } from '../packets/packet-writer.ts';
import type { DeliverEvent } from './catch-up.ts';
import { createCounters } from './counters.ts';
import { createClaims } from './group-routing.ts';
import { createJournal } from './journal.ts';
import { createMessageQueue } from './message-queue.ts';
import { createOutbound } from './outbound.ts';
import { createOwnership } from './ownership.ts';
import { createRetainedDelivery, createRetainedMessages } from './retained.ts';
import { createRouter } from './router.ts';
import { createSessionRegistry } from './session-registry.ts';
import { createHandOnShares, createReaders } from './slices.ts';
import { createSubscriptionTree } from './subscription-tree.ts';
import { retainedNotes, writeTalk } from './talk.ts';
import { createWills } from './wills.ts';

export interface BrokerOptions {
  readonly authority: BrokerHooks;
  readonly store: SessionStore;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  /** The brokers of other processes, where the store serves sessions to several. */
  readonly others?: { readonly peers: Peers; readonly deliverEvent: DeliverEvent } | undefined;
}

/** A connection, as seen by work on all connections. */
export interface Member {
  readonly client: Pick<Client, 'identity' | 'isGone'> | undefined;
  /** The payer of the connection is the address, until it has logged in. */
  readonly input: { readonly payer: Payer };
  /** Checks its clocks, which count time awake: keep alive, login, token. */
  sweep(awakeMs: number): void;
  readonly writer: Pick<PacketWriter, 'waitingBytes' | 'bytesWritten'>;
  end(code: number, text?: string): void;
  /** Closes without a goodbye, which a client that does not read would not get. */
  abort(code: number): void;
}

export type BrokerContext = ReturnType<typeof createBrokerContext>;

/** The parts of one broker that its connections use. */
export function createBrokerContext(options: BrokerOptions) {
  const { authority, store, budgets, clock, log, others } = options;
  const { shared } = store;
  /** Where other processes have sessions as well. */
  const cluster = shared && others && { ...others, shared };
  const counters = createCounters();
  const journal = createJournal({
    ...{ store, log, room: budgets.of('mqtt_store_changes') },
    notesOf: others && retainedNotes(others.peers),
  });
  const wanted = cluster?.shared.wanted;
  const tree = createSubscriptionTree(wanted?.count);
  const handOnShares = createHandOnShares();
  const claims =
    cluster &&
    createClaims({
      ...{ shared: cluster.shared, log, groups: tree.groups },
      freedNote: cluster.peers.entryOf(writeTalk({ kind: 'freed' })),
    });
  const bytes = budgets.of('mqtt_queued_bytes');
  const queue = createMessageQueue({ journal, counters, bytes, claims, clock });
  const { hasDropped } = cluster?.peers ?? {};
  const outbound = createOutbound({ authority, queue, journal, counters, claims, hasDropped });
  const router = createRouter({
    ...{ tree, outbound, journal, counters, shares: handOnShares, clock, claims },
  });
  const retained = createRetainedMessages({ journal, budgets, clock });
  const completion = { router, retained, counters };
  const wills = createWills({
    ...{ bytes: budgets.of('mqtt_will_bytes'), clock, log, journal, handOnShares, completion },
    ...{ authority, shared },
  });
  const registry = createSessionRegistry({ tree, queue, journal, clock, budgets });
  const ownership =
    cluster &&
    claims &&
    createOwnership({
      ...{ ...cluster, registry, outbound, journal, counters, wills },
      ...{ clock, log, claims },
    });
  const { heard } = ownership ?? {};
  return {
    ...{ ...completion, authority, clock, log, journal, outbound, tree, queue, registry, wills },
    ...{ cluster, claims, ownership, wanted, handOnShares, frameLimits, waiting: budgets.waiting },
    retainedDelivery: createRetainedDelivery({ retained, outbound, clock, heard }),
    partialBytes: budgets.of('partial_bytes'),
    publishBytes: budgets.of('mqtt_publish_bytes'),
    /** Connections with packets that wait because a turn of the event loop was used up. */
    readers: createReaders(),
    flusher: createFlusher(),
    /**
     * Time that the broker was awake, as of the last sweep: exact enough for keep alive, and free
     * of charge for each packet. A clock that is set and a pause of the process are no silence.
     */
    awake: { ms: 0 },
    /** All open connections. */
    members: new Set<Member>(),
  };
}

const frameLimits: FrameLimits = {
  packetBytesMax: mqttLimits.packetBytesMax,
  largePacketBytesMax: mqttLimits.valuesPacketBytesMax,
  /** An array of values and a web page on its way through a gateway may be larger than a value. */
  bytesMaxOf(topic) {
    if (topic.endsWith('/values')) return mqttLimits.valuesPacketBytesMax;
    const isDeviceTopic = /^(devices|gateways)\/[^/]+\//.test(topic) && !topic.endsWith('/value');
    return isDeviceTopic ? mqttLimits.deviceTopicPacketBytesMax : mqttLimits.packetBytesMax;
  },
};
