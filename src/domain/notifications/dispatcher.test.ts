import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSocial, aUser, deviceId, noon } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { silentLog } from '../../lib/log.ts';
import { limits } from '../limits.ts';
import { silentReporter } from '../reporter.ts';
import type { Channel, Outcome } from './channel.ts';
import type { FiledDelivery, NewDelivery } from './delivery.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';

const { id: notificationId } = aNotification('n');

/** A store with so many deliveries by webhook that are due. */
async function aStore(count: number) {
  const storage = await temporaryStorage();
  await storage.users.insert(aUser('bob', { profile: { webhook: ['https://x.org'] } }), 'hash');
  await storage.users.insert(aUser('ana'), 'hash');
  await storage.notifications.insert(aNotification('n'));
  const progress = { status: 'pending', dueAt: noon } as const;
  const deliveries = Array.from({ length: count }, (_, index): NewDelivery => {
    return { username: 'bob', channel: 'webhook', message: `${index}`, progress };
  });
  const place = { notificationId, deviceId: deviceId('d'), at: noon, throttlingMs: 0 };
  await storage.notifications.fire([{ ...place, deliveries, state: {} }]);
  return storage;
}

/** The machine may be busy. */
const patienceMs = 60_000;

/** A pump on the store, whose channel answers as the test says and keeps the messages. */
function aPump(storage: Awaited<ReturnType<typeof aStore>>) {
  const clock = createManualClock(noon);
  const sent: string[] = [];
  let answer: (signal: AbortSignal) => Promise<Outcome> = async () => ({ kind: 'sent' });
  let underWay = 0;
  let most = 0;
  const channel: Channel = {
    async send({ text }, signal) {
      sent.push(text);
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        return await answer(signal);
      } finally {
        underWay -= 1;
      }
    },
  };
  const outbox: Dispatcher = createDispatcher({
    ...{ store: storage.outbox, users: storage.users, clock },
    channels: new Map([['webhook', channel]]),
    actuate: async () => ({ kind: 'sent' }),
    ...{ reporter: silentReporter, log: silentLog, random: () => 0.5 },
  });
  return {
    ...{ clock, sent, outbox },
    most: () => most,
    answer(next: (signal: AbortSignal) => Promise<Outcome>) {
      answer = next;
    },
  };
}

async function until(isSo: () => unknown): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, 'it never came about');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The store has answered all that a pump asks it of its own accord. */
async function settled(storage: Awaited<ReturnType<typeof aStore>>): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    await storage.ping();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function deliveriesOf(
  storage: Awaited<ReturnType<typeof aStore>>,
): Promise<readonly FiledDelivery[]> {
  const page = { limit: 1_000, offset: 0 };
  return (await storage.notifications.deliveries(notificationId, page)).deliveries;
}

const areAll = async (
  storage: Awaited<ReturnType<typeof aStore>>,
  status: FiledDelivery['progress']['status'],
): Promise<boolean> =>
  (await deliveriesOf(storage)).every(({ progress }) => progress.status === status);

test('two pumps on one store share the work, and send each message once', async () => {
  const storage = await aStore(300);
  const pumps = [aPump(storage), aPump(storage)];
  for (const { outbox } of pumps) outbox.wake();
  await until(() => areAll(storage, 'sent'));
  const sent = pumps.flatMap((pump) => pump.sent);
  assert.equal(sent.length, 300);
  assert.equal(new Set(sent).size, 300);
  for (const pump of pumps) {
    assert.ok(pump.sent.length > 0);
    assert.ok(pump.most() <= limits.deliveriesUnderWayPerPayerMax);
    await pump.outbox.stop();
  }
});

test('what a pump holds goes to another when its lease ends, not before', async () => {
  const storage = await aStore(1);
  const [dead, alive] = [aPump(storage), aPump(storage)];
  const late = Promise.withResolvers<Outcome>();
  dead.answer(() => late.promise);
  dead.outbox.wake();
  await until(() => dead.sent.length === 1);
  alive.clock.advance(limits.deliveryLeaseMs - 1);
  alive.outbox.wake();
  await settled(storage);
  assert.equal(alive.sent.length, 0);
  alive.clock.advance(1);
  alive.outbox.wake();
  await until(() => areAll(storage, 'sent'));
  assert.equal(alive.sent.length, 1);
  // What the first says after its lease changes nothing.
  late.resolve({ kind: 'refused', reason: 'late' });
  await dead.outbox.stop();
  const [completed] = await deliveriesOf(storage);
  assert.deepEqual([completed?.progress.status, completed?.attempts], ['sent', 2]);
  await alive.outbox.stop();
});

test('a clock that is set back hands nothing out twice', async () => {
  const storage = await aStore(5);
  const pump = aPump(storage);
  pump.outbox.wake();
  await until(() => areAll(storage, 'sent'));
  pump.clock.advance(-limits.deliveryLifeMs);
  pump.outbox.wake();
  pump.clock.advance(3 * limits.deliveryLifeMs);
  pump.outbox.wake();
  await pump.outbox.stop();
  assert.equal(pump.sent.length, 5);
});

test('a channel that throws is tried again, and shows nothing of what it threw', async () => {
  const storage = await aStore(1);
  const pump = aPump(storage);
  pump.answer(async () => {
    throw new Error('secret of the provider');
  });
  pump.outbox.wake();
  await until(async () => (await deliveriesOf(storage))[0]?.attempts === 1);
  await pump.outbox.stop();
  const progress = (await deliveriesOf(storage))[0]?.progress;
  assert.ok(progress?.status === 'pending' && progress.dueAt > noon);
  assert.doesNotMatch(progress.reason ?? '', /secret/);
});

test('after its last try a message is given up, with the reason', async () => {
  const storage = await aStore(1);
  const pump = aPump(storage);
  pump.answer(async () => ({ kind: 'retry', reason: 'busy', afterMs: limits.deliveryLifeMs + 1 }));
  pump.outbox.wake();
  await until(() => areAll(storage, 'failed'));
  const progress = (await deliveriesOf(storage))[0]?.progress;
  assert.ok(progress?.status === 'failed');
  assert.equal(progress.reason, 'given up after one try: busy');
  await pump.outbox.stop();
});

test('a stopped pump begins nothing, and waits for what is under way', async () => {
  const storage = await aStore(200);
  const pump = aPump(storage);
  const gate = Promise.withResolvers<Outcome>();
  pump.answer(() => gate.promise);
  pump.outbox.wake();
  await until(() => pump.sent.length >= limits.deliveriesUnderWayPerPayerMax);
  const stopped = pump.outbox.stop();
  gate.resolve({ kind: 'sent' });
  await stopped;
  assert.equal(pump.sent.length, limits.deliveriesUnderWayPerPayerMax);
  const completed = (await deliveriesOf(storage)).filter(
    ({ progress }) => progress.status === 'sent',
  );
  assert.equal(completed.length, pump.sent.length);
});

test('nine payers with one dead host leave the channel to another', async () => {
  const storage = await temporaryStorage();
  async function file(name: string, host: string, count: number) {
    const profile = { webhook: [`https://${host}/hook`] };
    await storage.users.insert(aUser(name, { profile }), 'hash');
    const socials = Array.from({ length: count }, (_, index) => {
      const social = aSocial(`${name}-${index}`, { sender: name, recipient: name });
      return { ...social, channel: 'webhook', status: 'pending' } as const;
    });
    await storage.socials.insert(socials);
  }
  for (let index = 1; index <= 9; index += 1) await file(`eve${index}`, 'dead.example:8443', 20);
  const pump = aPump(storage);
  const gate = Promise.withResolvers<Outcome>();
  pump.answer(() => gate.promise);
  pump.outbox.wake();
  await until(() => pump.sent.length >= limits.deliveriesUnderWayPerHostMax);
  await settled(storage);
  assert.equal(pump.sent.length, limits.deliveriesUnderWayPerHostMax);
  await file('zoe', 'alive.example', 1);
  pump.outbox.wake();
  await until(() => pump.sent.includes('about zoe-0'));
  assert.equal(pump.sent.length, limits.deliveriesUnderWayPerHostMax + 1);
  const stopped = pump.outbox.stop();
  gate.resolve({ kind: 'sent' });
  await stopped;
  assert.equal(pump.sent.length, limits.deliveriesUnderWayPerHostMax + 1, 'waits end unsent');
});

/** The store, whose next claim is answered when `answer` is called. */
function withSlowClaim(storage: Awaited<ReturnType<typeof aStore>>) {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  let claims = 0;
  const outbox = {
    ...storage.outbox,
    async claimDue(claim: Parameters<typeof storage.outbox.claimDue>[0]) {
      claims += 1;
      const found = await storage.outbox.claimDue(claim);
      if (claims === 1) await promise;
      return found;
    },
  };
  return { storage: { ...storage, outbox }, answer, claims: () => claims };
}

test('what is filed while a claim is under way is claimed right after it', async () => {
  const { storage, answer, claims } = withSlowClaim(await aStore(0));
  const pump = aPump(storage);
  pump.outbox.wake();
  await until(() => claims() === 1);
  const progress = { status: 'pending', dueAt: noon } as const;
  const delivery: NewDelivery = { username: 'bob', channel: 'webhook', message: '1', progress };
  const place = { notificationId, deviceId: deviceId('d'), at: noon, throttlingMs: 0 };
  await storage.notifications.fire([{ ...place, deliveries: [delivery], state: {} }]);
  pump.outbox.wake();
  answer();
  await until(() => pump.sent.length === 1);
  await pump.outbox.stop();
});

test('a stop waits for what is claimed at that moment', async () => {
  const { storage, answer, claims } = withSlowClaim(await aStore(1));
  const pump = aPump(storage);
  pump.outbox.wake();
  await until(() => claims() === 1);
  const stopped = pump.outbox.stop();
  setImmediate(answer);
  await stopped;
  assert.ok(await areAll(storage, 'sent'));
});
