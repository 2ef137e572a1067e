import assert from 'node:assert/strict';
import test from 'node:test';
import { watchHealth } from './health.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';

const devices = 80;
const sensorsPerDevice = 100;
const readsAtOnce = 12;

const idOf = (at: number): string => `noted-${at}`;

/** Public devices of a megabyte each, nearly all of it notes. */
async function furnish(town: Neighbourhood): Promise<void> {
  const meta = { notes: 'n'.repeat(9_000) };
  for (let at = 0; at < devices; at += 1) {
    const sensors = Array.from({ length: sensorsPerDevice }, (_, n) => ({ id: `s${n}`, meta }));
    const json = { id: idOf(at), sensors };
    const made = await town.call({ method: 'POST', path: '/devices', json });
    assert.equal(made.status, 204, made.text);
  }
}

test('totals of many large devices leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  await furnish(town);
  // What was made is at hand; after a start nothing is.
  await town.restart();
  const ids = Array.from({ length: devices }, (_, at) => idOf(at)).join(',');
  const paths = [
    `/sensors_data?device_id=${ids}&aggregate=sum,count&across=devices`,
    `/sensors_data?device_id=${ids}&sensor_id=s1&aggregate=avg&interval=1h&across=devices`,
    `/sensors_data?device_id=${ids}&limit=100`,
    `/sensors_data/last?device_id=${ids}`,
  ];
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const reads = Array.from({ length: readsAtOnce }, (_, at) =>
      town.call({ path: paths[at % paths.length] ?? '' }),
    );
    const replies = await Promise.all(reads);
    for (const { status, text } of replies) {
      assert.ok([200, 429].includes(status), `${status} ${text.slice(0, 300)}`);
    }
    assert.ok(
      replies.some(({ status }) => status === 200),
      'none was answered',
    );
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
});
