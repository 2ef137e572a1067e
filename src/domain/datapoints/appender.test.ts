import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInProcessFeed } from '../../feed/in-process-feed.ts';
import type { Clock } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import { aDevice, aSensor, deviceId, noon, sensorId } from '../../storage/contract/builders.ts';
import { createMemoryStorage } from '../../storage/memory/memory-storage.ts';
import { silentReporter } from '../reporter.ts';
import { createAppender } from './appender.ts';
import type { Datapoint } from './datapoint.ts';
import type { DatapointStore, Push } from './datapoint-store.ts';
import type { FeedEvent } from './feed.ts';

const clock: Clock = { now: () => noon };

function aPush(sensor: string, ...values: readonly number[]): Push {
  const datapoints = values.map((value) => ({ value, timestamp: noon, receivedAt: noon }));
  return { deviceId: deviceId('d'), sensorId: sensorId(sensor), datapoints };
}

async function anAppender(wrap: (store: DatapointStore) => DatapointStore = (store) => store) {
  const storage = createMemoryStorage();
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('a'), aSensor('b')] }));
  const feed = createInProcessFeed({ log: silentLog });
  const told: (readonly FeedEvent[])[] = [];
  const store = wrap(storage.datapoints);
  const appender = createAppender({ store, feed, clock, reporter: silentReporter });
  return { storage, feed, told, appender };
}

const toldOf = (push: Push): FeedEvent => ({ kind: 'datapoints', ...push });

test('those who watch are told once per commit, in the order of the pushes', async () => {
  const { feed, told, appender } = await anAppender();
  feed.subscribe((events) => told.push(events));
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
  feed.subscribe((events) => told.push(events));
  await appender.append(aPush('a', 1));
  assert.deepEqual(told, []);
  await appender.append(aPush('a', 1, 2));
  assert.deepEqual(told, [[toldOf(aPush('a', 2))]]);
});

test('what is sent again as a repetition is told again, though it is stored once', async () => {
  const { storage, feed, told, appender } = await anAppender();
  await appender.append(aPush('a', 1));
  feed.subscribe((events) => told.push(events));
  const again = { ...aPush('a', 1), envelope: { isRepetition: true } };
  const outcome = await appender.append(again);
  assert.deepEqual(outcome, { kind: 'stored', fresh: [] });
  assert.deepEqual(told, [[toldOf(again)]]);
  assert.equal((await storage.datapoints.lastValues([deviceId('d')])).size, 1);
});

test('what a door sends along reaches those who watch', async () => {
  const { feed, told, appender } = await anAppender();
  feed.subscribe((events) => told.push(events));
  const push = { ...aPush('a', 1), envelope: { isRepetition: false } };
  await appender.append(push);
  assert.deepEqual(told, [[toldOf(push)]]);
});

test('what could not be stored is not told', async () => {
  const { feed, told, appender } = await anAppender((store) => ({
    ...store,
    append: () => Promise.reject(new Error('disk full')),
  }));
  feed.subscribe((events) => told.push(events));
  await assert.rejects(appender.append(aPush('a', 1)), /disk full/);
  assert.deepEqual(told, []);
});

test('a listener that throws harms no push', async () => {
  const { storage, feed, appender } = await anAppender();
  feed.subscribe(() => {
    throw new Error('a bug of a listener');
  });
  assert.equal((await appender.append(aPush('a', 1))).kind, 'stored');
  assert.equal(await storage.datapoints.count(aPush('a'), {}), 1);
});
