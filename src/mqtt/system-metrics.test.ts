// In a process of its own: it changes the timers.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Message } from '../domain/messaging/message.ts';
import type { MetricSource } from '../domain/metrics.ts';
import { silentLog } from '../lib/log.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { publishSystemMetrics } from './system-metrics.ts';

const values = {
  plain: [{ labels: {}, value: 3 }],
  parted: [{ labels: { code: 'a' }, value: 1 }],
  none: [],
};

/** Lets promises that are settled go on. */
const turn = () => new Promise(setImmediate);

function aService(context: TestContext) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const wanted = new Set<string>();
  const delivered: (readonly Message[])[] = [];
  let reads = 0;
  const metrics: MetricSource = {
    names: () => Object.keys(values),
    read: async () => {
      reads += 1;
      return Object.entries(values).map(([name, list]) => ({ name, values: list }));
    },
  };
  const broker: Pick<Broker, 'hasSubscribers' | 'deliver'> = {
    hasSubscribers: (topic) => wanted.has(topic),
    deliver: (messages) => delivered.push(messages),
  };
  const end = publishSystemMetrics({ broker, metrics, log: silentLog });
  const wait = async () => {
    context.mock.timers.tick(mqttLimits.systemMetricsMs);
    await turn();
  };
  return { wanted, delivered, reads: () => reads, wait, end };
}

test('metrics are delivered while somebody subscribes, and not before', async (context) => {
  const { wanted, delivered, reads, wait, end } = aService(context);
  await wait();
  assert.deepEqual([reads(), delivered], [0, []]);
  wanted.add('$SYS/metrics/parted');
  await wait();
  const texts = delivered.flat().map(({ topic, payload }) => `${topic} ${payload}`);
  assert.deepEqual(texts, [
    '$SYS/metrics/plain 3',
    '$SYS/metrics/parted [{"labels":{"code":"a"},"value":1}]',
    '$SYS/metrics/none []',
  ]);
  end();
  await wait();
  assert.equal(delivered.length, 1);
});
