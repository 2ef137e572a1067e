import {
  type Budgets,
  type BudgetTotals,
  createBudgets,
} from '../../src/domain/budgets/budgets.ts';
import { payerAt, payerOfAccount } from '../../src/domain/budgets/payer.ts';
import type { SessionStore } from '../../src/domain/messaging/session-store.ts';
import { createManualClock, type ManualClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { Client, ConnectAnswer, PublishOutcome } from '../../src/mqtt/authority.ts';
import { type BrokerEngine, createBroker } from '../../src/mqtt/broker/broker-engine.ts';
import { forgetfulStore, openClient } from './open-broker.ts';

/** A house whose answers a test sets; it starts by allowing everything. */
export interface TestHouse {
  answerPublish: (topic: string, payload: string) => PublishOutcome | Promise<PublishOutcome>;
  mayReceive: (identity: string, topic: string) => boolean | Promise<boolean>;
  maySubscribe: (filter: string) => boolean;
  isGone: (identity: string) => boolean;
  answerConnect: (username: string) => ConnectAnswer | undefined;
  /** Rights that are being looked up, by identity and topic. */
  readonly asked: Map<string, Promise<boolean>>;
  /** What happened, in the words of the hooks. */
  readonly seen: string[];
}

export interface HouseBroker {
  readonly broker: BrokerEngine;
  readonly house: TestHouse;
  readonly clock: ManualClock;
  readonly budgets: Budgets;
  /** Time goes by, and the broker looks at its clocks. */
  pass(ms: number): void;
}

const noon = 1_750_000_000_000;

/** A broker with a house of its own and a clock that stands still; identity is the username. */
export async function houseBroker(
  store: SessionStore = forgetfulStore,
  totals: BudgetTotals = {},
): Promise<HouseBroker> {
  const house: TestHouse = {
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
        house.answerConnect(username) ?? { kind: 'accepted', client: clientOf(house, username) },
      mayQueue: (identity, topic) => rightsOf(house, identity).mayReceive(topic),
      tryQueue: (identity, topic) => rightsOf(house, identity).tryReceive(topic),
    },
    store,
    budgets,
    clock,
    log: silentLog,
  });
  return {
    broker,
    house,
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

function clientOf(house: TestHouse, identity: string): Client {
  return {
    ...openClient,
    identity,
    payer:
      identity === 'guest' ? payerAt('127.0.0.1') : payerOfAccount(identity.split('/', 1).join('')),
    publish: async ({ topic, payload }) =>
      house.answerPublish(topic, Buffer.from(payload).toString()),
    maySubscribe: (filter) => house.maySubscribe(filter),
    ...rightsOf(house, identity),
    isGone: () => house.isGone(identity),
    connected: () => {
      house.seen.push(`${identity} connected`);
    },
    disconnected: () => {
      house.seen.push(`${identity} disconnected`);
    },
  };
}

/** An answer that comes at once is at hand; a promise is waited for, by who asked for it. */
function rightsOf(house: TestHouse, identity: string): Pick<Client, 'mayReceive' | 'tryReceive'> {
  const name = (topic: string): string => `${identity} ${topic}`;
  return {
    async mayReceive(topic) {
      const asked = house.asked.get(name(topic));
      house.asked.delete(name(topic));
      return asked ?? house.mayReceive(identity, topic);
    },
    tryReceive(topic) {
      const answer = house.mayReceive(identity, topic);
      if (answer === true) return 'yes';
      if (answer === false) return 'no';
      house.asked.set(name(topic), answer);
      return 'unknown';
    },
  };
}
