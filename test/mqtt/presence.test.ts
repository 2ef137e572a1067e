import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Service, startService } from '../service.ts';
import { connect } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await service.as('ana')({ method: 'POST', path: '/gateways', json: { id: 'gw' } });
  await service.call({ method: 'POST', path: '/gateways', json: { id: 'free' } });
});

after(() => service[Symbol.asyncDispose]());

async function gateway(id: string) {
  const reply = await service.as('ana')({ path: `/gateways/${id}` });
  return reply.json as { connected: boolean; last_seen?: string };
}

const pollMs = 20;
const pollsMax = 250;

/** Presence follows the connection, which nobody announces: asks until it is so. */
async function becomes(id: string, connected: boolean): Promise<void> {
  for (let poll = 0; poll < pollsMax; poll += 1) {
    if ((await gateway(id)).connected === connected) return;
    await setTimeout(pollMs);
  }
  assert.fail(`${id} is not ${connected ? 'connected' : 'gone'}`);
}

test('a gateway is connected while a client of its id is, as its owner', async () => {
  assert.deepEqual(
    [(await gateway('gw')).connected, (await gateway('gw')).last_seen],
    [false, undefined],
  );
  const client = await connect(service, { clientId: 'gw', as: 'ana' });
  await becomes('gw', true);
  assert.ok((await gateway('gw')).last_seen);
  await client.mqtt.endAsync();
  await becomes('gw', false);
});

test('nobody else makes a gateway connected, but everybody one of the guest', async () => {
  await using _eve = await connect(service, { clientId: 'gw', as: 'eve' });
  await using _guest = await connect(service, { clientId: 'gw' });
  await using _free = await connect(service, { clientId: 'free' });
  await becomes('free', true);
  assert.equal((await gateway('gw')).connected, false);
  assert.equal((await gateway('gw')).last_seen === undefined, false);
});

test('a taken over session stays connected', async () => {
  const first = await connect(service, { clientId: 'gw', as: 'ana' });
  await becomes('gw', true);
  await using _second = await connect(service, { clientId: 'gw', as: 'ana' });
  await first.mqtt.endAsync(true);
  await becomes('gw', true);
});
