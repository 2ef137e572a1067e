import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { passwordOf, type Reply } from '../service.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectPacket, connectRaw, manyTimes, openRaw } from './raw-mqtt.ts';

/** Each request says itself whose it is. */
const environment = { KIPIMO_TRUSTED_PROXIES: '127.0.0.1,::1' };
const wrong = 'a wrong password';

const credentials = (username: string, password = passwordOf(username)) => ({ username, password });

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - startedAt)];
}

/** Sends credentials as from that address. */
function send(
  town: Neighbourhood,
  path: '/auth/token' | '/users',
  json: object,
  address: string,
): Promise<Reply> {
  return town.call({ method: 'POST', path, json, headers: { 'x-forwarded-for': address } });
}

/** What is sent from there is answered with 200 in the time that anybody waits. Its time, in ms. */
async function assertServed(
  town: Neighbourhood,
  path: '/auth/token' | '/users',
  json: object,
  address: string,
): Promise<number> {
  const [{ status, text }, ms] = await timed(() => send(town, path, json, address));
  assert.equal(status, 200, `${address} was refused: ${text}`);
  assert.ok(ms <= servedMsMax, `${address} waited ${ms} ms at ${path}`);
  return ms;
}

/** An address in a network of its own for each. */
const strangerAt = (index: number): string => `10.${index % 200}.${Math.floor(index / 200)}.7`;

/** Does the same again and again, several at once, until what it answers is called. */
function keepUp(
  sideBySide: number,
  work: (index: number) => Promise<unknown>,
): () => Promise<unknown> {
  let isOver = false;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (!isOver) await work(next++);
  };
  const all = Promise.all(Array.from({ length: sideBySide }, worker));
  all.catch(() => undefined);
  return () => {
    isOver = true;
    return all;
  };
}

test('wrong passwords from 105 addresses close the account to nobody', async () => {
  await using town = await startNeighbourhood({ environment });
  const made = await send(town, '/users', credentials('ama'), '192.0.2.1');
  assert.equal(made.status, 200, made.text);
  await town.attack(async () => {
    const statuses = new Map<number, number>();
    const guess = async (index: number) => {
      const { status } = await send(
        town,
        '/auth/token',
        credentials('ama', wrong),
        strangerAt(index),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    await manyTimes(105, guess);
    assert.equal(statuses.get(401), 105, 'a stranger was refused for what others did');
    statuses.clear();
    const startedAt = performance.now();
    const stop = keepUp(25, (index) => guess(index % 105));
    for (let round = 0; round < 4; round += 1) {
      await pause(1_000);
      await assertServed(town, '/auth/token', credentials('ama'), `198.51.${round}.7`);
    }
    // As from 127.0.77.1, which no proxy said.
    const [client, ms] = await timed(() =>
      connectRaw(
        town.mqttUrl,
        { username: 'ama', password: Buffer.from(passwordOf('ama')) },
        '127.0.77.1',
      ),
    );
    assert.ok(client !== undefined && ms <= servedMsMax, `over MQTT: ${ms} ms`);
    client.drop();
    await stop();
    const seconds = (performance.now() - startedAt) / 1_000;
    const guessed = statuses.get(401) ?? 0;
    // One each 200 ms.
    assert.ok(guessed <= 5 * seconds + 5, `${guessed} guesses in ${seconds} s`);
  });
});

test('a flood of wrong logins from 150 addresses keeps no stranger waiting', async () => {
  await using town = await startNeighbourhood({ environment });
  for (const name of ['ama', 'kofi']) {
    assert.equal((await send(town, '/users', credentials(name), '192.0.2.1')).status, 200);
  }
  await town.attack(async () => {
    const names = ['ama', 'honest', 'admin', 'nobody', 'esi'];
    const stop = keepUp(150, async (index) => {
      const name = names[index % names.length] ?? 'ama';
      await send(
        town,
        '/auth/token',
        credentials(name, `${wrong} ${index}`),
        strangerAt(index % 150),
      );
      await pause(250);
    });
    for (let round = 0; round < 6; round += 1) {
      await pause(1_000);
      await assertServed(town, '/auth/token', credentials('kofi'), `198.51.${round}.7`);
    }
    await stop();
  });
});

test('sixty sign-ups at once keep no other sign-up and no login waiting', async (t) => {
  await using town = await startNeighbourhood({ environment });
  let signUp = 0;
  const waits = await town.attack(async () => {
    let made = 0;
    const stop = keepUp(60, async (index) => {
      const address = `203.0.113.${index % 250}`;
      const { status } = await send(town, '/users', credentials(`crowd-${index}`), address);
      if (status === 200) made += 1;
      else await pause(100);
    });
    for (let round = 0; round < 4; round += 1) {
      await pause(500);
      const lone = credentials(`lone-${round}`);
      const ms = await assertServed(town, '/users', lone, `198.51.${round}.7`);
      signUp = Math.max(signUp, ms);
    }
    await stop();
    assert.ok(made >= 60, `only ${made} were made`);
    assert.ok(made <= 320, `one network made ${made} accounts`);
  });
  t.diagnostic(`longest waits in ms: ${JSON.stringify({ ...waits, signUp })}`);
});

test('CONNECTs with passwords whose clients leave at once keep no login waiting', async () => {
  await using town = await startNeighbourhood();
  await town.tokenOf('kofi');
  await town.attack(async () => {
    const stop = keepUp(60, async (index) => {
      const place = `127.0.${1 + (index % 120)}.1`;
      const client = await openRaw(town.mqttUrl, place);
      const password = Buffer.from(`${wrong} ${index}`);
      await client.send(connectPacket({ clientId: `c${index}`, username: 'kofi', password }));
      client.socket.resetAndDestroy();
      await pause(100);
    });
    for (let round = 0; round < 4; round += 1) {
      await pause(1_000);
      // As from an address that nobody knows, in a lane with those that leave.
      const login = { username: 'kofi', password: Buffer.from(passwordOf('kofi')) };
      const [client, ms] = await timed(() =>
        connectRaw(town.mqttUrl, login, `127.0.${200 + round}.1`),
      );
      assert.ok(client !== undefined, 'the right password was refused');
      client.drop();
      assert.ok(ms <= servedMsMax, `a client waited ${ms} ms`);
    }
    await stop();
  });
});
