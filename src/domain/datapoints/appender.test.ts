import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aDevice,
  aSensor,
  deviceId,
  noon,
  sensorId,
} from '../../../test/contract/storage/builders.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { createInProcessFeed } from '../../feed/in-process-feed.ts';
import type { Clock } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { silentLog } from '../../lib/log.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import { silentReporter } from '../reporter.ts';
import { createAppender, type QueuedPush } from './appender.ts';
import { emptyBatch, singleBatch, toColumnBatch, toDatapoints } from './column-batch.ts';
import type { Datapoint } from './datapoint.ts';
import type { DatapointStore } from './datapoint-store.ts';
import type { FeedEvent } from './feed.ts';

const clock: Clock = { now: () => noon };

function aPush(sensor: string, ...values: readonly number[]): QueuedPush {
  const datapoints = values.map((value) => ({ value, timestamp: noon, receivedAt: noon }));
  return {
    deviceId: deviceId('d'),
    sensorId: sensorId(sensor),
    batch: toColumnBatch(datapoints),
    payer: 'account/ann',
  };
}

async function anAppender(wrap: (store: DatapointStore) => DatapointStore = (store) => store) {
  const storage = await temporaryStorage();
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('a'), aSensor('b')] }));
  const feed = createInProcessFeed({ log: silentLog });
  const told: (readonly FeedEvent[])[] = [];
  const store = wrap(storage.datapoints);
  const appender = createAppender({ store, feed, clock, reporter: silentReporter });
  return { storage, feed, told, appender };
}

const toldOf = ({ payer: _, batch, ...push }: QueuedPush): FeedEvent => ({
  kind: 'datapoints',
  ...push,
  datapoints: toDatapoints(batch),
});

/** With the datapoints that an event makes when it is asked for them. */
const shown = (events: readonly FeedEvent[]): FeedEvent[] =>
  events.map((event) =>
    event.kind === 'datapoints' ? { ...event, datapoints: event.datapoints } : event,
  );

test('those who watch are told once per commit, in the order of the pushes', async () => {
  const { feed, told, appender } = await anAppender();
  feed.subscribe((events) => told.push(shown(events)));
  const pushes = [aPush('b', 1), aPush('missing', 2), aPush('a', 3, 4), aPush('b', 5)];
  await Promise.all(pushes.map((push) => appender.append(push)));
  const stored = pushes.filter(({ sensorId: sensor }) => sensor !== 'missing');
  assert.deepEqual(told, [stored.map(toldOf)]);
});

test('they are told once it is kept, and before whoever pushed it is answered', async () => {
  const { storage, feed, appender } = await anAppender();
  const order: string[] = [];
  const lastValue = async (): Promise<Datapoint | undefined> =>
    (await storage.datapoints.lastValues([deviceId('d')])).get(deviceId('d'))?.get(sensorId('a'));
  let seen: Promise<Datapoint | undefined> | undefined;
  feed.subscribe(() => {
    order.push('told');
    seen = lastValue();
  });
  await appender.append(aPush('a', 1));
  order.push('answered');
  assert.deepEqual(order, ['told', 'answered']);
  assert.equal((await seen)?.value, 1);
});

test('a datapoint that was stored already is not told again', async () => {
  const { feed, told, appender } = await anAppender();
  await appender.append(aPush('a', 1));
  feed.subscribe((events) => told.push(shown(events)));
  await appender.append(aPush('a', 1));
  assert.deepEqual(told, []);
  await appender.append(aPush('a', 1, 2));
  assert.deepEqual(told, [[toldOf(aPush('a', 2))]]);
});

test('what is sent again as a repetition is told again, though it is stored once', async () => {
  const { storage, feed, told, appender } = await anAppender();
  await appender.append(aPush('a', 1));
  feed.subscribe((events) => told.push(shown(events)));
  const again = { ...aPush('a', 1), publishContext: { isRepetition: true } };
  const outcome = await appender.append(again);
  assert.deepEqual(outcome, { kind: 'stored', fresh: emptyBatch });
  assert.deepEqual(told, [[toldOf(again)]]);
  assert.equal((await storage.datapoints.lastValues([deviceId('d')])).size, 1);
});

test('a repetition is told before what came behind it, though that is new', async () => {
  const { feed, told, appender } = await anAppender();
  await appender.append(aPush('a', 1));
  feed.subscribe((events) => told.push(...events.map((event) => shown([event]))));
  const again = { ...aPush('a', 1), publishContext: { isRepetition: true } };
  const next = aPush('a', 2);
  await Promise.all([appender.append(again), appender.append(next)]);
  assert.deepEqual(told, [[toldOf(again)], [toldOf(next)]]);
});

test('what a server sends along reaches those who watch', async () => {
  const { feed, told, appender } = await anAppender();
  feed.subscribe((events) => told.push(shown(events)));
  const push = { ...aPush('a', 1), publishContext: { isRepetition: false } };
  await appender.append(push);
  assert.deepEqual(told, [[toldOf(push)]]);
});

test('what could not be stored is not told', async () => {
  const { feed, told, appender } = await anAppender((store) => ({
    ...store,
    append: () => Promise.reject(new Error('disk full')),
  }));
  feed.subscribe((events) => told.push(shown(events)));
  await assert.rejects(appender.append(aPush('a', 1)), /disk full/);
  assert.deepEqual(told, []);
});

test('a push that cannot be stored fails alone; others of its batch are stored', async () => {
  const { storage, feed, told, appender } = await anAppender((store) => ({
    ...store,
    append: (batch) =>
      batch.some((push) => push.batch.numbers.includes(13))
        ? Promise.reject(new TypeError('nobody thought of 13'))
        : store.append(batch),
  }));
  feed.subscribe((events) => told.push(shown(events)));
  const pushes = [1, 2, 13, 4, 13, 6].map((value) => aPush('a', value));
  const outcomes = await Promise.allSettled(pushes.map((push) => appender.append(push)));
  assert.deepEqual(
    outcomes.map(({ status }) => status === 'fulfilled'),
    [true, true, false, true, false, true],
  );
  assert.equal(await storage.datapoints.count(aPush('a'), {}), 4);
  assert.deepEqual(
    told.flat().map((event) => event.kind === 'datapoints' && event.datapoints.length),
    [1, 1, 1, 1],
  );
});

test('what the store says of the machine fails the whole batch, and once', async () => {
  let tries = 0;
  const { appender } = await anAppender((store) => ({
    ...store,
    append: () => {
      tries += 1;
      return Promise.reject(new DomainError('unavailable', 'the disk failed'));
    },
  }));
  const pushes = [1, 2, 3].map((value) => appender.append(aPush('a', value)));
  const outcomes = await Promise.allSettled(pushes);
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  assert.equal(tries, 1);
});

test('a long push waits until the store is ready for it, and short ones pass', async () => {
  const ready = Promise.withResolvers<void>();
  const { storage, appender } = await anAppender((store) => ({
    ...store,
    readyForLong: () => ready.promise,
  }));
  const values = Array.from({ length: limits.datapointsPerTurn + 1 }, (_, at) => at);
  const datapoints = values.map((value) => ({ value, receivedAt: noon }));
  const long = appender.append({ ...aPush('a'), batch: toColumnBatch(datapoints) });
  await appender.append(aPush('b', 1));
  assert.equal(await storage.datapoints.count(aPush('a'), {}), 0);
  ready.resolve();
  await long;
  assert.equal(await storage.datapoints.count(aPush('a'), {}), values.length);
});

test('while a long push is stored, only those to the same device wait for it', async () => {
  const stored = Promise.withResolvers<void>();
  const { storage, appender } = await anAppender((store) => ({
    ...store,
    append: async (batch) => {
      if (batch.some((push) => push.batch.count > 1)) await stored.promise;
      return store.append(batch);
    },
  }));
  await storage.devices.insert(aDevice('other', { sensors: [aSensor('b')] }));
  const datapoints = Array.from({ length: limits.datapointsPerTurn + 1 }, (_, value) => ({
    value,
    receivedAt: noon,
  }));
  const long = appender.append({ ...aPush('a'), batch: toColumnBatch(datapoints) });
  const toOther = { ...aPush('b', 1), deviceId: deviceId('other') };
  for (let round = 0; round < 20; round += 1) {
    await appender.append(toOther);
    await yieldToEventLoop();
  }
  const behind = appender.append(aPush('a', 2));
  await appender.append(toOther);
  assert.equal(await storage.datapoints.count(aPush('a'), {}), 0);
  const drained = appender.drain();
  stored.resolve();
  await Promise.all([long, behind, drained]);
  assert.equal(await storage.datapoints.count(aPush('a'), {}), datapoints.length + 1);
  assert.equal((await storage.datapoints.lastValue(aPush('a')))?.value, 2);
});

test('pushes that wait behind a long one count in the queue of their payer', async () => {
  const stored = Promise.withResolvers<void>();
  const { storage, appender } = await anAppender((store) => ({
    ...store,
    append: async (batch) => {
      if (batch.some((push) => push.batch.count > 1)) await stored.promise;
      return store.append(batch);
    },
  }));
  const values = Array.from({ length: limits.datapointsPerTurn + 1 }, (_, value) => value);
  const datapoints = values.map((value) => ({ value, receivedAt: noon }));
  const long = appender.append({ ...aPush('a'), batch: toColumnBatch(datapoints) });
  for (let round = 0; round < 5; round += 1) await yieldToEventLoop();
  const value = 'x'.repeat(1_048_576);
  const count = limits.commitQueueBytesMax / 2 / value.length;
  let refused = 0;
  const pushes = Array.from({ length: count + 10 }, (_, at) =>
    appender.append({ ...aPush('a'), batch: singleBatch(value, noon + at, noon) }).catch(() => {
      refused += 1;
    }),
  );
  const ofOther = appender.append({ ...aPush('b', 1), payer: 'account/bob' });
  await yieldToEventLoop();
  assert.ok(refused >= 10 && refused < count / 2, `${refused} were refused`);
  stored.resolve();
  await Promise.all([long, ofOther, ...pushes]);
  await appender.append({ ...aPush('b'), batch: singleBatch(value, undefined, noon) });
  assert.equal(await storage.datapoints.count(aPush('b'), {}), 2);
});

test('who brings little does not wait for all that somebody else brought', async () => {
  const first = Promise.withResolvers<void>();
  const commits: number[] = [];
  const { storage, appender } = await anAppender((store) => ({
    ...store,
    append: async (batch) => {
      commits.push(batch.findIndex(({ sensorId: id }) => id === sensorId('b')));
      if (commits.length === 1) await first.promise;
      return store.append(batch);
    },
  }));
  const value = 'x'.repeat(limits.commitBytesMax / 4);
  const pushes = Array.from({ length: 20 }, (_, at) =>
    appender.append({ ...aPush('a'), batch: singleBatch(value, noon + at, noon) }),
  );
  const ofOther = appender.append({ ...aPush('b', 1), payer: 'account/bob' });
  first.resolve();
  await Promise.all([ofOther, ...pushes]);
  assert.equal(await storage.datapoints.count(aPush('b'), {}), 1);
  assert.ok(commits.length >= 4, `${commits.length} commits`);
  // One may have been under way when it came.
  const hers = commits.findIndex((at) => at >= 0) + 1;
  assert.ok(hers >= 1 && hers <= 2, `hers was commit ${hers}`);
});

test('a listener that throws harms no push', async () => {
  const { storage, feed, appender } = await anAppender();
  feed.subscribe(() => {
    throw new Error('a bug of a listener');
  });
  assert.equal((await appender.append(aPush('a', 1))).kind, 'stored');
  assert.equal(await storage.datapoints.count(aPush('a'), {}), 1);
});
