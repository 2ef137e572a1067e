// In a process of its own: it changes the timers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../lib/log.ts';
import { mqttLimits } from '../limits.ts';
import { complete } from './catch-up.ts';
import { createMessageQueue } from './message-queue.ts';

const settled = async (): Promise<void> => {
  for (let tick = 0; tick < 20; tick += 1) await undefined;
};

test('a process that stops in a pause asks the store for nothing more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  let isOver = false;
  const shared = {
    async caughtUp() {
      asked += 1;
      throw new Error('away');
    },
  };
  const context = { shared, journal: { settled: async () => undefined }, log: silentLog };
  const done = complete(context as never, [], [], {
    isOver: () => isOver,
    isComing: () => false,
    turns: { read: (work) => work(), store: (work) => work() },
  });
  await settled();
  isOver = true;
  t.mock.timers.tick(mqttLimits.storeRetryMs);
  await done;
  assert.equal(asked, 1);
});

test('the right of a connection that ended in a pause is not asked for again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const client = {
    tryReceive: () => 'unknown',
    async mayReceive() {
      asked += 1;
      throw new Error('away');
    },
  };
  // Only the fields that the queue reads.
  const entry = { packetId: 1, parcel: { message: { topic: 't' } }, isOnDisk: true };
  const session = {
    ...{ link: { client, writer: { waitingBytes: 0 }, inFlightMax: 8 }, inFlight: 0 },
    ...{ isAsking: false, waiting: [entry], waitingFrom: 0 },
  };
  const queue = createMessageQueue({} as never);
  queue.pump(session as never);
  await settled();
  assert.equal(session.isAsking, true);
  Object.assign(session, { link: undefined });
  t.mock.timers.tick(mqttLimits.storeRetryMs);
  await settled();
  assert.deepEqual([asked, session.isAsking], [1, false]);
});
