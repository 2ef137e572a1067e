import { payerAt, payerOfAccount } from '../../src/domain/budgets/budget.ts';
import {
  type Budgets,
  type BudgetTotals,
  createBudgets,
} from '../../src/domain/budgets/budgets.ts';
import type { SessionStore } from '../../src/domain/messaging/session-store.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type BrokerEngine, createBroker } from '../../src/mqtt/broker/broker-engine.ts';
import type { Client, ConnectAnswer, PublishOutcome } from '../../src/mqtt/broker.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { temporaryStorage } from '../temporary-storage.ts';
import { forgetfulStore, openClient } from './open-broker.ts';

/** A hooks whose answers a test sets; it starts by allowing everything. */
export interface TestHooks {
  answerPublish: (topic: string, payload: string) => PublishOutcome | Promise<PublishOutcome>;
  mayReceive: (identity: string, topic: string) => boolean | Promise<boolean>;
  maySubscribe: (filter: string) => boolean;
  isGone: (identity: string) => boolean;
  answerConnect: (username: string) => ConnectAnswer | undefined | Promise<undefined>;
  /** Rights that are being looked up, by identity and topic. */
  readonly asked: Map<string, Promise<boolean>>;
  /** What happened, in the words of the hooks. */
  readonly seen: string[];
}

export interface TestBroker {
  readonly broker: BrokerEngine;
  readonly hooks: TestHooks;
  readonly clock: ManualClock;
  readonly budgets: Budgets;
  /** Time goes by, and the broker looks at its clocks. */
  pass(ms: number): void;
}

const noon = 1_750_000_000_000;

/**
 * Sessions on a storage, for brokers that are started one after the other: changes are answered at
 * once, as peers without sockets expect it, and a load waits until they are kept.
 */
export async function quickSessions(): Promise<SessionStore> {
  const { mqttSessions } = await temporaryStorage();
  let kept: Promise<unknown> = Promise.resolve();
  return {
    async apply(changes) {
      kept = Promise.all([kept, mqttSessions.apply(changes)]);
    },
    async load() {
      await kept;
      return mqttSessions.load();
    },
  };
}

/** A broker with a hooks of its own and a clock that stands still; identity is the username. */
export async function testBroker(
  store: SessionStore = forgetfulStore,
  totals: BudgetTotals = {},
): Promise<TestBroker> {
  const hooks: TestHooks = {
    answerPublish: () => ({ kind: 'accepted', isPassedOn: true }),
    mayReceive: () => true,
    maySubscribe: () => true,
    isGone: () => false,
    answerConnect: () => undefined,
    asked: new Map(),
    seen: [],
  };
  const clock = createManualClock(noon);
  const budgets = createBudgets(totals);
  const broker = await createBroker({
    authority: {
      connect: async ({ username = 'guest' }) =>
        (await hooks.answerConnect(username)) ?? {
          kind: 'accepted',
          client: clientOf(hooks, username),
        },
      mayQueue: (identity, topic) => rightsOf(hooks, identity).mayReceive(topic),
      tryQueue: (identity, topic) => rightsOf(hooks, identity).tryReceive(topic),
    },
    store,
    budgets,
    clock,
    log: silentLog,
  });
  return {
    broker,
    hooks,
    clock,
    budgets,
    pass(ms) {
      for (let left = ms; left > 0; left -= 1_000) {
        clock.advance(Math.min(left, 1_000));
        broker.sweep();
      }
    },
  };
}

function clientOf(hooks: TestHooks, identity: string): Client {
  return {
    ...openClient,
    identity,
    payer:
      identity === 'guest' ? payerAt('127.0.0.1') : payerOfAccount(identity.split('/', 1).join('')),
    publish: async ({ topic, payload }) =>
      hooks.answerPublish(topic, Buffer.from(payload).toString()),
    maySubscribe: (filter) => hooks.maySubscribe(filter),
    ...rightsOf(hooks, identity),
    isGone: () => hooks.isGone(identity),
    connected: () => {
      hooks.seen.push(`${identity} connected`);
    },
    disconnected: () => {
      hooks.seen.push(`${identity} disconnected`);
    },
  };
}

/** An answer that comes at once is at hand; a promise is waited for, by who asked for it. */
function rightsOf(hooks: TestHooks, identity: string): Pick<Client, 'mayReceive' | 'tryReceive'> {
  const name = (topic: string): string => `${identity} ${topic}`;
  return {
    async mayReceive(topic) {
      const asked = hooks.asked.get(name(topic));
      hooks.asked.delete(name(topic));
      return asked ?? hooks.mayReceive(identity, topic);
    },
    tryReceive(topic) {
      const answer = hooks.mayReceive(identity, topic);
      if (answer === true) return 'yes';
      if (answer === false) return 'no';
      hooks.asked.set(name(topic), answer);
      return 'unknown';
    },
  };
}
