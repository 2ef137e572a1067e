// In a process of its own: hashes take longer here.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import mqttPacket from 'mqtt-packet';
import { adminPassword, passwordOf, type Service, startService } from '../service.ts';

const fleet = 1_000;
const hashMs = 300;
const giveUpMs = 4_000;
const comeBackMs = 5_000;
const allInMs = 120_000;
const personMsMax = 2_000;

/** Makes each hash as slow as on a small board, on processors that are free meanwhile. */
function slowHashes(): { readonly count: () => number } {
  let count = 0;
  const { argon2 } = crypto;
  crypto.argon2 = ((algorithm, parameters, done) => {
    count += 1;
    argon2(algorithm, parameters, (error, tag) => setTimeout(done, hashMs, error, tag));
  }) as typeof argon2;
  syncBuiltinESMExports();
  return { count: () => count };
}

/** Whether the client is let in before it gives up. */
async function tryOnce(service: Service, clientId: string, username: string): Promise<boolean> {
  const { port } = new URL(service.mqttUrl);
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const patience = setTimeout(() => socket.destroy(), giveUpMs);
  socket.on('error', () => undefined);
  socket.once('close', () => resolve(false));
  const parser = mqttPacket.parser();
  parser.on('packet', (packet) => resolve(packet.cmd === 'connack' && packet.returnCode === 0));
  socket.on('data', (bytes) => parser.parse(bytes));
  const password = Buffer.from(passwordOf(username));
  const version = { protocolId: 'MQTT', protocolVersion: 4 } as const;
  socket.write(
    mqttPacket.generate({ cmd: 'connect', ...version, clientId, clean: true, username, password }),
  );
  const isIn = await promise;
  clearTimeout(patience);
  // Those who are in stay.
  if (!isIn) socket.destroy();
  return isIn;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets all of them try until they are in; answers how long a person waited at most meanwhile. */
async function letAllIn(service: Service, usernameOf: (index: number) => string): Promise<number> {
  const until = performance.now() + allInMs;
  let isIn = 0;
  const clients = Array.from({ length: fleet }, async (_, index) => {
    while (!(await tryOnce(service, `client-${index}`, usernameOf(index)))) {
      await pause(comeBackMs);
      if (performance.now() > until) return;
    }
    isIn += 1;
  });
  let worst = 0;
  const all = Promise.all(clients);
  const person = { username: 'admin', password: adminPassword };
  while (isIn < fleet && performance.now() < until) {
    const startedAt = performance.now();
    const login = { method: 'POST', path: '/auth/token', json: person };
    assert.equal((await service.call(login)).status, 200);
    worst = Math.max(worst, performance.now() - startedAt);
    await Promise.race([all, pause(500)]);
  }
  assert.equal(isIn, fleet, 'all are in within two minutes');
  return worst;
}

describe('a thousand clients that give up after 4 s, where a hash takes 300 ms', () => {
  let service: Service;
  let hashes: { readonly count: () => number };

  before(async () => {
    service = await startService();
    const admin = service.as('admin');
    for (let index = 0; index < fleet; index += 1) {
      const username = `farm-${index}`;
      const json = { username, password: passwordOf(username) };
      assert.equal((await admin({ method: 'POST', path: '/users', json })).status, 200);
    }
    hashes = slowHashes();
  });

  after(() => service[Symbol.asyncDispose]());

  test('of one account are in with a few hashes', async () => {
    const before = hashes.count();
    const worst = await letAllIn(service, () => 'farm-0');
    assert.ok(worst <= personMsMax, `a person waited ${worst} ms`);
    const ofPersons = 20;
    assert.ok(hashes.count() - before <= ofPersons, `${hashes.count() - before} hashes`);
  });

  test('of an account each are in within two minutes, and persons wait 2 s at most', async () => {
    const worst = await letAllIn(service, (index) => `farm-${index}`);
    assert.ok(worst <= personMsMax, `a person waited ${worst} ms`);
    const atOnce = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        tryOnce(service, `client-${index}`, `farm-${index}`),
      ),
    );
    assert.ok(performance.now() - atOnce < hashMs, 'those who come back need no hash');
  });
});
