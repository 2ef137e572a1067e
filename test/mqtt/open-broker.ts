import { type AddressInfo, createServer } from 'node:net';
import { payerAt } from '../../src/domain/budgets/budget.ts';
import { createBudgets } from '../../src/domain/budgets/budgets.ts';
import type { SessionStore } from '../../src/domain/messaging/session-store.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type BrokerEngine, createBroker } from '../../src/mqtt/broker/broker-engine.ts';
import {
  acceptedToPassOn,
  type BrokerHooks,
  type Client,
  type PublishOutcome,
} from '../../src/mqtt/broker.ts';
import { attachSocket } from '../../src/mqtt/listener.ts';

/** The bare broker behind a socket, with hooks that let everybody do nearly everything. */
export interface OpenBroker {
  readonly broker: BrokerEngine;
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

const reserved: PublishOutcome = { kind: 'refused', reason: 'not_authorized' };

/** Everybody may everything, but nobody publishes to topics of the broker itself. */
export const openClient: Client = {
  identity: 'anybody',
  payer: payerAt('127.0.0.1'),
  publish: async ({ topic }) => (topic.startsWith('$') ? reserved : acceptedToPassOn),
  maySubscribe: () => true,
  mayReceive: async () => true,
  tryReceive: () => 'yes',
  isGone: () => false,
};

/** Accepts every login. */
export const openAuthority: BrokerHooks = {
  connect: async () => ({ kind: 'accepted', client: openClient }),
  mayQueue: async () => true,
  tryQueue: () => 'yes',
};

/** A store that forgets: for brokers that are not started twice. */
export const forgetfulStore: SessionStore = {
  load: async () => ({ sessions: [], retained: [] }),
  apply: async () => undefined,
};

/** Listens on a free port of this machine. */
export async function openBroker(
  options: {
    readonly authority?: BrokerHooks;
    readonly store?: SessionStore;
    readonly clock?: Clock;
  } = {},
): Promise<OpenBroker> {
  const { authority = openAuthority, store = forgetfulStore, clock = systemClock } = options;
  const broker = await createBroker({
    ...{ authority, store, clock, log: silentLog },
    budgets: createBudgets(),
  });
  const server = createServer({ noDelay: true }, (socket) => {
    attachSocket({ broker, socket, address: '127.0.0.1' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    broker,
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      await broker.close();
      await closed;
    },
  };
}
