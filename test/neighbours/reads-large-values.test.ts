import assert from 'node:assert/strict';
import test from 'node:test';
import { startNeighbourhood } from './neighbours.ts';

const megabyte = 1_048_576;
/** Together with the lists more than the heap, were they gathered. */
const count = 10;
const listsAtOnce = 6;

test('large last values of old devices do not end a list, nor a service', async () => {
  // As in a database that was filled when a value might have as much as a body.
  await using town = await startNeighbourhood({
    environment: { KIPIMO_VALUE_BYTES_MAX: String(8 * megabyte) },
  });
  const text = 'x'.repeat(8 * megabyte - 100);
  for (let at = 0; at < count; at += 1) {
    const json = { id: `large-${at}`, sensors: [{ id: 's' }] };
    assert.equal((await town.call({ method: 'POST', path: '/devices', json })).status, 204);
    const path = `/devices/large-${at}/sensors/s/value`;
    assert.equal((await town.call({ method: 'POST', path, body: text })).status, 204);
  }
  await town.attack(async () => {
    const lists = Array.from({ length: listsAtOnce }, () =>
      lengthOf(`${town.url}/api/v2/devices?limit=1000`),
    );
    for (const length of await Promise.all(lists)) assert.ok(length > 2 * count * text.length);
  });
  await town.restart();
  assert.ok((await lengthOf(`${town.url}/api/v2/devices?limit=1000`)) > 2 * count * text.length);
  const found = await town.call({ path: "/devices?q=s~='^xx$'" });
  assert.deepEqual(found.json, []);
});

/** How many bytes the answer has; read and forgotten. */
async function lengthOf(url: string): Promise<number> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  let length = 0;
  for await (const chunk of response.body ?? []) length += chunk.length;
  return length;
}
