import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { type Message, sessionKey } from '../../domain/messaging/message.ts';
import { silentLog } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';
import { complete, holdBack } from './catch-up.ts';
import { createCounters } from './counters.ts';
import { Delivery } from './delivery.ts';
import { createOutbound } from './outbound.ts';
import { Session } from './session.ts';
import { writeTalk } from './talk.ts';

const payer = payerOfAccount('ana');
const message: Message = {
  ...{ topic: 't', payload: Buffer.from('x'), qos: 1, retain: false },
  origin: { writer: 7, at: 4_096 },
};

/** A session that another process had until a moment ago. */
function aTakenSession(clientId: string) {
  const key = sessionKey('user/ana', clientId);
  const session = new Session({
    ...{ key, identity: 'user/ana', clientId, expirySeconds: 3_600, payer },
  });
  const subscription = {
    ...({ filter: '#', qos: 1, noLocal: false, retainAsPublished: false } as const),
    ...({ retainHandling: 0, identifier: 0 } as const),
  };
  const claimed = { key, subscriptions: [subscription], since: new Map(), heard: new Map() };
  holdBack(session, claimed);
  return { session, claimed };
}

test('each of many sessions gets once what is in the log and comes meanwhile', async () => {
  const taken = Array.from({ length: 2 * mqttLimits.deliveriesAtOnceMax }, (_, at) =>
    aTakenSession(`c${at}`),
  );
  const queued: string[] = [];
  const journal = {
    hold() {},
    hasRoomFor: () => true,
    synced() {},
    settled: async () => undefined,
  };
  const counters = createCounters();
  const outbound = createOutbound({
    ...{ authority: { tryQueue: () => 'yes' }, journal, counters },
    queue: { add: ({ clientId }: Session) => void queued.push(clientId) },
  } as never);
  const terms = { qos: 1, retain: false, identifiers: [] } as const;
  for (const { session } of taken) outbound.offer(session, new Delivery(message, 0), terms);
  const completed: string[] = [];
  const context = {
    shared: {
      missed: async () => ({
        entries: [{ writer: 7, place: 1, text: writeTalk({ kind: 'message', message }) }],
        isLast: true,
      }),
      caughtUp: async (keys: readonly string[]) => void completed.push(`${keys.length} complete`),
    },
    ...{ peers: { read: (text: string) => text }, deliverEvent() {}, outbound, journal },
    ...{ counters, clock: { now: () => 0 }, log: silentLog },
  };
  const claimed = taken.map((one) => one.claimed);
  await complete(context as never, taken as never, claimed as never, {
    ...{
      isOver: () => false,
      isComing: () => false,
      turns: { read: (work) => work(), store: (work) => work() },
    },
  });
  // Whatever waits for its slice comes then.
  await wait(100);
  assert.deepEqual(completed, [`${taken.length} complete`]);
  assert.deepEqual(queued.toSorted(), taken.map(({ session }) => session.clientId).toSorted());
});
