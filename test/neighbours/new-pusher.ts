import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { Neighbourhood } from './neighbours.ts';

/**
 * Makes an account with a device and a key; what it answers pushes a value on a connection of its
 * own, and answers how long that took, in milliseconds.
 */
export async function openNewPusher({
  call,
  url,
  tokenOf,
}: Neighbourhood): Promise<() => Promise<number>> {
  const token = await tokenOf('owner');
  const device = { id: 'new-tank', sensors: [{ id: 'level' }] };
  const created = await call({ method: 'POST', path: '/devices', token, json: device });
  assert.ok(created.status < 300, created.text);
  const made = await call({ method: 'POST', path: '/auth/keys', token, json: { name: 'new' } });
  const { key } = made.json as { key: string };
  return () => pushOnNew(url, key);
}

async function pushOnNew(url: string, key: string): Promise<number> {
  const startedAt = performance.now();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const path = '/api/v2/devices/new-tank/sensors/level/value';
    const asked = request(new URL(path, url), { method: 'POST', agent: false, headers });
    asked.on('error', reject).on('response', (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    asked.end('{"value":1}');
  });
  assert.equal(status, 204, 'a push on a new connection was refused');
  return performance.now() - startedAt;
}
