import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../service.ts';
import { watchHealth } from './health.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const strangers = 10;
/** As many as one user may have on a sensor. */
const rulesEach = 100;
const message = '{level} '.repeat(500);

/** So many values, the last one of a moment ago. */
const series = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    value: at + 1,
    timestamp: new Date(Date.now() - (count - at) * 100).toISOString(),
  }));

async function inTime(what: string, push: Promise<Reply>): Promise<void> {
  const startedAt = performance.now();
  const reply = await push;
  const ms = Math.round(performance.now() - startedAt);
  assert.equal(reply.status, 204, `${what}: ${reply.status} ${reply.text}`);
  assert.ok(ms <= servedMsMax, `${what} took ${ms} ms`);
}

test('a thousand rules of strangers on a public device hold up none of its pushes', async () => {
  await using town = await startNeighbourhood();
  const owner = await town.tokenOf('victoria');
  const device = { id: 'public-tank', visibility: 'public', sensors: [{ id: 'level' }] };
  const made = await town.call({ method: 'POST', path: '/devices', token: owner, json: device });
  assert.equal(made.status, 204, made.text);
  const usernames = Array.from({ length: strangers }, (_, at) => `mob-${at}`);
  for (const username of usernames) await town.tokenOf(username);
  const condition = { devices: ['public-tank'], sensors: ['level'], expression: 'level > 0' };
  const action = { usernames, channels: ['webhook'], message };
  await manyTimes(strangers * rulesEach, async (at) => {
    const token = await town.tokenOf(`mob-${at % strangers}`);
    const json = { condition, action, throttling: 0 };
    const rule = await town.call({ method: 'POST', path: '/notifications', token, json });
    assert.equal(rule.status, 200, rule.text);
  });
  const push = (path: string, json: unknown) => {
    const sensor = `/devices/public-tank/sensors/level/${path}`;
    return town.call({ method: 'POST', path: sensor, token: owner, json });
  };
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const pushes = Array.from({ length: 10 }, (_, at) => push('value', { value: at + 1 }));
    await Promise.all(pushes.map((pushed) => inTime('a push', pushed)));
    // A hundred thousand firings of strangers: one of the owner's would be among the first.
    const reply = await push('values', series(100));
    assert.equal(reply.status, 204, `an array: ${reply.status} ${reply.text}`);
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
  const deliveries = await town.call({
    path: '/notifications?limit=1',
    token: await town.tokenOf('mob-3'),
  });
  const [first] = deliveries.json as { times_sent?: number }[];
  assert.ok((first?.times_sent ?? 0) > 0, `a stranger's rule told nothing: ${deliveries.text}`);
});

test('long arrays on a sensor with a hundred rules hold up no alarm of others', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('mallory');
  const sensors = ['quiet', 'loud'].map((id) => ({ id }));
  const device = { id: 'watched', visibility: 'private', sensors };
  const made = await town.call({ method: 'POST', path: '/devices', token, json: device });
  assert.equal(made.status, 204, made.text);
  await manyTimes(2 * rulesEach, async (at) => {
    const sensor = at % 2 === 0 ? 'quiet' : 'loud';
    const expression = at % 2 === 0 ? 'quiet > 1e9' : 'loud > 0';
    const condition = { devices: ['watched'], sensors: [sensor], expression };
    const action = { usernames: ['mallory'], channels: ['webhook'], message };
    const json = { condition, action, throttling: 0 };
    const rule = await town.call({ method: 'POST', path: '/notifications', token, json });
    assert.equal(rule.status, 200, rule.text);
  });
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const quiet = JSON.stringify(series(30_000));
    const loud = JSON.stringify(series(500));
    const arrays = Array.from({ length: 8 }, (_, at) => {
      const [sensor, body] = at % 2 === 0 ? ['quiet', quiet] : ['loud', loud];
      const path = `/devices/watched/sensors/${sensor}/values`;
      return town.call({
        method: 'POST',
        path,
        token,
        ...{ body: body as string, type: 'application/json' },
      });
    });
    for (const { status, text } of await Promise.all(arrays)) {
      assert.ok([204, 429].includes(status), `${status} ${text}`);
    }
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
});
