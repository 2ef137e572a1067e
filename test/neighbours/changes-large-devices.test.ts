import assert from 'node:assert/strict';
import test from 'node:test';
import { watchHealth } from './health.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const noted = 31;
const plain = 900;
const changesAtOnce = 120;
const changes = 600;

test('changes of a device of two megabytes leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('eve');
  const id = 'eve-heavy';
  const sensors = Array.from({ length: plain }, (_, at) => ({ id: `plain-${at}` }));
  const made = await town.call({ method: 'POST', path: '/devices', token, json: { id, sensors } });
  assert.equal(made.status, 204, made.text);
  for (let at = 0; at < noted; at += 1) {
    const json = { id: `noted-${at}`, meta: { notes: `${at}`.repeat(60_000 / `${at}`.length) } };
    const path = `/devices/${id}/sensors`;
    const put = await town.call({ method: 'POST', path, token, json });
    assert.ok(put.status < 300, put.text);
  }
  await town.attack(async () => {
    const health = watchHealth(town.url);
    await manyTimes(
      changes,
      async (at) => {
        const path = `/devices/${id}/sensors/plain-${at % plain}/name`;
        const reply = await town.call({ method: 'PUT', path, token, body: `name ${at}` });
        assert.ok([200, 204, 429, 503].includes(reply.status), `${reply.status} ${reply.text}`);
      },
      changesAtOnce,
    );
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
});
