import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchHealth } from './health.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';
import { residentMebibytes } from './unread.ts';

const grownMebibytesMax = 200;

/** A plain push, as devices send it: it takes the fast path. */
function pushOf(value: string, announced = value.length): string {
  return (
    'POST /api/v2/devices/eve-busy/sensors/s/value HTTP/1.1\r\nhost: a\r\n' +
    `content-type: text/plain\r\ncontent-length: ${announced}\r\n\r\n${value}`
  );
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve());
    socket.once('close', () => resolve());
  });
  return socket;
}

async function furnish(town: Neighbourhood): Promise<void> {
  const json = { id: 'eve-busy', sensors: [{ id: 's' }] };
  assert.equal((await town.call({ method: 'POST', path: '/devices', json })).status, 204);
}

/** Pushes as fast as answers come, 64 in one breath; answers how many were answered. */
async function flood(sockets: readonly Socket[], push: string, ms: number): Promise<number> {
  const breath = push.repeat(64);
  const until = performance.now() + ms;
  let answers = 0;
  const floodOne = async (socket: Socket, at: number): Promise<void> => {
    // Not all in the same instant: this process writes them, too.
    await sleep(at * 4);
    await new Promise<void>((resolve) => {
      let due = 0;
      const send = (): void => {
        due = 64;
        if (performance.now() > until) resolve();
        else socket.write(breath);
      };
      socket.on('data', (bytes: Buffer) => {
        const count = bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
        answers += count;
        due -= count;
        if (due <= 0) send();
      });
      socket.once('close', () => resolve());
      send();
    });
  };
  await Promise.all(sockets.map(floodOne));
  return answers;
}

for (const way of ['short', 'ordinary'] as const) {
  test(`400 connections that push 64 at a time on the ${way} way delay nobody else`, async () => {
    await using town = await startNeighbourhood();
    await furnish(town);
    // A header field that the fast path does not know leads to the Fastify path.
    const head = way === 'short' ? 'host: a\r\n' : 'host: a\r\nx-odd: 1\r\n';
    const push = pushOf('1').replace('host: a\r\n', head);
    const sockets: Socket[] = [];
    await manyTimes(400, async () => sockets.push(await open(town.url)));
    let answers = 0;
    await town.attack(async () => {
      const health = watchHealth(town.url);
      answers = await flood(sockets, push, 6_000);
      const longestMs = await health.longestMs();
      assert.ok(longestMs < servedMsMax / 2, `/healthz waited for ${longestMs} ms`);
    });
    assert.ok(answers > 5_000, `${answers} pushes were answered`);
    for (const socket of sockets) socket.destroy();
  });
}

test('all of 20,000 pushes in one breath are answered, and little of them is held', async () => {
  await using town = await startNeighbourhood();
  await furnish(town);
  const socket = await open(town.url);
  // Nothing is stored: what the service keeps of datapoints is not what a connection holds.
  const push = pushOf('1').replace('/sensors/s/', '/sensors/missing/');
  const before = residentMebibytes(town.process.pid);
  let answers = 0;
  await town.attack(async () => {
    socket.write(push.repeat(20_000));
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.on('data', (bytes: Buffer) => {
        answers += bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
        if (answers >= 20_000) resolve();
      });
    });
  });
  socket.destroy();
  assert.equal(answers, 20_000);
  const grown = residentMebibytes(town.process.pid) - before;
  assert.ok(grown <= 150, `${grown} MiB are held for one connection`);
});

/** Reads on; answers how many answers came until all have, or the connection is closed. */
async function answersOn(socket: Socket, all: number): Promise<number> {
  let answers = 0;
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.on('data', (bytes: Buffer) => {
      answers += bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
      if (answers >= all) resolve();
    });
    if (socket.destroyed) resolve();
    socket.resume();
  });
  return answers;
}

test('half requests and unread answers take little on the fast path', async () => {
  await using town = await startNeighbourhood();
  await furnish(town);
  const sockets: Socket[] = [];
  const asking: Socket[] = [];
  // Of some 600 bytes each.
  const missing = pushOf('1'.repeat(450)).replace('/sensors/s/', '/sensors/missing/');
  // What a busy process has anyway is not what connections hold: it has been busy before.
  const busy: Socket[] = [];
  await manyTimes(50, async () => busy.push(await open(town.url)));
  await flood(busy, missing, 4_000);
  for (const socket of busy) socket.destroy();
  const before = residentMebibytes(town.process.pid);
  const cutOff = new Set<Socket>();
  await town.attack(async () => {
    await manyTimes(3_000, async (at) => {
      const socket = await open(town.url);
      sockets.push(socket);
      // A body that never ends, or more in one breath than may wait.
      if (at % 3 > 0) return void socket.write(pushOf('1'.repeat(10), 4_096));
      asking.push(socket);
      socket.pause();
      socket.once('close', () => cutOff.add(socket));
      // Nothing is stored: what the service keeps of datapoints is not what a connection holds.
      socket.write(missing.repeat(1_000));
    });
    await sleep(6_000);
  });
  const grown = residentMebibytes(town.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held on the fast path`);
  // Nothing is left out between: whoever is not cut off has all answers, once they are read.
  for (const socket of asking.splice(100)) socket.destroy();
  for (const socket of asking) {
    const answers = await answersOn(socket, 1_000);
    assert.ok(answers === 1_000 || cutOff.has(socket), `${answers} of 1,000 were answered`);
  }
  for (const socket of sockets) socket.destroy();
});
