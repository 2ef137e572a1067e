import assert from 'node:assert/strict';
import test from 'node:test';
import { startNeighbourhood } from './neighbours.ts';

const megabyte = 1_048_576;
/** Twice in a list: more than the heap, were it gathered. */
const count = 24;
const listsAtOnce = 40;

test('large last values of old devices do not end a list, nor a service', async () => {
  // As in a database that was filled when a value might have as much as a body.
  await using town = await startNeighbourhood({
    environment: { KIPIMO_VALUE_BYTES_MAX: String(8 * megabyte) },
    // One list alone would fill it.
    nodeFlags: ['--max-old-space-size=320'],
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
    // What waits to be read has room for some of them, and the others are told so.
    const lengths = await Promise.all(lists);
    const whole = lengths.filter((length) => length !== undefined);
    assert.ok(whole.length > 0, 'no list was answered');
    for (const length of whole) assert.ok(length > 2 * count * text.length);
  });
  await town.restart();
  const after = await lengthOf(`${town.url}/api/v2/devices?limit=1000`);
  assert.ok((after ?? 0) > 2 * count * text.length);
  const found = await town.call({ path: "/devices?q=s~='^xx$'" });
  assert.deepEqual(found.json, []);
});

/** How many bytes the answer has, read and forgotten; undefined: it was refused for room. */
async function lengthOf(url: string): Promise<number | undefined> {
  // As it is: compressed it would be small.
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  if (response.status === 429) {
    await response.body?.cancel();
    return undefined;
  }
  assert.equal(response.status, 200);
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) length += chunk.length;
  } catch {
    // Broken off: there was no room for the next value.
    return undefined;
  }
  return length;
}
