import assert from 'node:assert/strict';
import test from 'node:test';
import { watchHealth } from './health.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';

const sensors = 40;
const valuesPerCorrection = 5_000;
const correctionsPerSensor = 5;
const readsAtOnce = 12;

const timestamp = (at: number): string => new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString();

test('as many corrected values as there may be leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  const id = 'much-corrected';
  const json = { id, sensors: Array.from({ length: sensors }, (_, at) => ({ id: `s${at}` })) };
  assert.equal((await town.call({ method: 'POST', path: '/devices', json })).status, 204);
  const values = (value: number) =>
    Array.from({ length: valuesPerCorrection }, (_, at) => ({ value, timestamp: timestamp(at) }));
  for (const { id: sensor } of json.sensors) {
    const path = `/devices/${id}/sensors/${sensor}/values`;
    assert.equal((await town.call({ method: 'POST', path, json: values(0) })).status, 204);
    for (let made = 1; made <= correctionsPerSensor; made += 1) {
      const reply = await town.call({ method: 'PATCH', path, json: values(made) });
      assert.equal(reply.status, 200, reply.text);
    }
  }
  // What was made is at hand; after a start nothing is.
  await town.restart();
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const paths = [
      ...[`/devices/${id}`, '/devices?limit=1000', `/devices?q=s1==${correctionsPerSensor}`],
      `/sensors_data/last?device_id=${id}`,
      `/sensors_data?device_id=${id}&aggregate=count,sum&across=devices`,
      ...json.sensors.slice(0, 4).map((one) => `/devices/${id}/sensors/${one.id}/corrections`),
    ];
    const reads = Array.from({ length: readsAtOnce }, (_, at) =>
      town.call({ path: paths[at % paths.length] ?? '' }),
    );
    for (const { status, text } of await Promise.all(reads)) {
      assert.ok([200, 429].includes(status), `${status} ${text}`);
    }
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
  const { json: shown } = await town.call({ path: `/devices/${id}/sensors/s7` });
  const last = (shown as { last_value: { value: number } }).last_value;
  assert.equal(last.value, correctionsPerSensor);
});
