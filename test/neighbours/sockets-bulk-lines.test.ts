import assert from 'node:assert/strict';
import test from 'node:test';
import { watchHealth } from './health.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';

const strangers = 16;
const linesPerBody = 400_000;

/** Lines that are all refused, each kind at another cost. */
const bodies: readonly string[] = [
  'x\n'.repeat(linesPerBody),
  '{}\n'.repeat(linesPerBody),
  Array.from(
    { length: linesPerBody / 8 },
    (_, at) => `{"device_id":"nowhere-${at}","sensor_id":"s","value":1}\n`,
  ).join(''),
  '{"device_id":"much","sensor_id":"s","value":1,"timestamp":"2099-01-01T00:00:00Z"}\n'.repeat(
    linesPerBody / 8,
  ),
];

test('bodies of refused lines leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  const json = { id: 'much', sensors: [{ id: 's' }] };
  assert.equal((await town.call({ method: 'POST', path: '/devices', json })).status, 204);
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const sent = Array.from({ length: strangers }, (_, at) =>
      town.call({
        ...{ method: 'POST', path: '/sensors_data', type: 'application/x-ndjson' },
        body: bodies[at % bodies.length] ?? '',
      }),
    );
    for (const [at, { status, text, json }] of (await Promise.all(sent)).entries()) {
      assert.equal(status, 200, text.slice(0, 300));
      const {
        stored,
        refused,
        refused_count: count,
      } = json as {
        stored: number;
        refused: unknown[];
        refused_count: number;
      };
      assert.deepEqual([stored, refused.length], [0, 1_000]);
      assert.equal(count, (bodies[at % bodies.length] ?? '').split('\n').length - 1);
    }
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
});
