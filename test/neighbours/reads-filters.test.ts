import assert from 'node:assert/strict';
import test from 'node:test';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';

const devices = 20_000;
const devicesAtOnce = 200;

test('filters with costly patterns leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  const name = 'ab'.repeat(500);
  for (let from = 0; from < devices; from += devicesAtOnce) {
    const json = Array.from({ length: devicesAtOnce }, (_, at) => ({
      ...{ id: `d${from + at}`, name, domain: name, meta: [name, name] },
    }));
    const made = await town.call({ method: 'POST', path: '/devices', json });
    assert.ok(made.status < 300, made.text);
  }
  const q = encodeURIComponent('name~=(a|b){40}c;domain~=(a.){20}c');
  let longestMs = 0;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      assert.equal((await fetch(`${town.url}/healthz`)).status, 200);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    }
  };
  await town.attack(async () => {
    const watching = watch();
    const searches = Array.from({ length: 12 }, () => town.call({ path: `/devices?q=${q}` }));
    const statuses = (await Promise.all(searches)).map(({ status }) => status);
    isOver = true;
    await watching;
    assert.ok(longestMs < servedMsMax / 2, `/healthz waited for ${longestMs} ms`);
    const token = await town.tokenOf('admin');
    const { text } = await town.call({ path: '//metrics', token });
    const held = Number(/kipimo_event_loop_held_seconds\{percentile="100"\} (\S+)/.exec(text)?.[1]);
    assert.ok(held < servedMsMax / 4_000, `the event loop was held for ${held} s`);
    assert.ok(statuses.includes(429), `nobody was refused: ${statuses}`);
    assert.ok(
      statuses.every((status) => [200, 400, 429].includes(status)),
      `${statuses}`,
    );
  });
});
