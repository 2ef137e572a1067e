import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';
import { residentMebibytes } from './unread.ts';

const strangers = 1_800;
const fields = Array.from({ length: 95 }, (_, at) => `X-${at}: ${'a'.repeat(150)}\r\n`).join('');
const manyFields = Array.from({ length: 760 }, (_, at) => `X-${at}: ${'a'.repeat(9)}\r\n`).join('');
const addressOf = (at: number): string => `127.0.${20 + (at >> 7)}.${1 + (at & 127)}`;

/** A connection from an address of its own that sends this and reads what comes. */
async function send({ url }: Neighbourhood, at: number, text: string): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), localAddress: addressOf(at), noDelay: true });
  socket.on('error', () => undefined).resume();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  socket.write(text);
  return socket;
}

const headOf = (line: string, about: string): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${about}\r\n`;
const values = '/api/v2/devices/d/sensors/s/values';
const announced = 'Content-Length: 4000\r\n';

/** Whole heads; of the body that they announce there is nothing, or a byte a second. */
const bodiless: readonly string[] = [
  headOf(`POST ${values}`, announced + fields),
  headOf('POST /api/v2/devices', announced + fields),
  headOf('POST /api/v2/sensors_data', `Transfer-Encoding: chunked\r\n${fields}`),
  headOf('POST /api/v2/nothing', announced + fields),
  headOf(`POST ${values}`, `Expect: 100-continue\r\n${announced}${fields}`),
  headOf('GET /api/v2/devices', announced + fields),
  headOf(`POST ${values}?a=${'a'.repeat(15_000)}`, announced),
  // Taken by the fast path.
  headOf('POST /api/v2/devices/d/sensors/s/value', announced),
  headOf('POST /api/v2/devices', announced),
];

async function usedByGuests(town: Neighbourhood): Promise<number> {
  const { text } = await town.call({ path: '//metrics', token: await town.tokenOf('admin') });
  const used = /budget_used\{budget="request_bytes",unit="bytes",by="guests"\} (\d+)/.exec(text);
  return Number(used?.[1] ?? Number.NaN);
}

/** A request with its body in two packets after its head, on a connection of its own. */
async function createSlowly(town: Neighbourhood, id: string): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ id });
  const length = `Content-Length: ${body.length}\r\n`;
  const login = `Authorization: Bearer ${await town.tokenOf('eve')}\r\n`;
  const socket = await send(town, 0, headOf('POST /api/v2/devices', length + login));
  const answered = once(socket, 'data');
  for (const piece of [body.slice(0, 5), body.slice(5)]) {
    await sleep(50);
    socket.write(piece);
  }
  assert.match(String(await answered), /^HTTP\/1\.1 204 /);
  socket.destroy();
  return performance.now() - startedAt;
}

test('1,800 addresses whose bodies never come hold what all guests may', async () => {
  // Of it all guests together have 6 MiB.
  const budget = 16 * 1_048_576;
  await using town = await startNeighbourhood({
    environment: { KIPIMO_BUDGETS: `request_bytes=${budget}` },
  });
  await town.tokenOf('eve');
  const sockets: Socket[] = [];
  let longest = 0;
  await town.attack(async () => {
    let isOver = false;
    const attacking = manyTimes(strangers, async (at) => {
      const text = bodiless[at % bodiless.length] ?? '';
      const socket = await send(town, at, text);
      sockets.push(socket);
      const dripping = at % 2 === 0 ? setInterval(() => socket.write(' '), 1_000) : undefined;
      socket.once('close', () => clearInterval(dripping));
    })
      .then(() => sleep(3_000))
      .finally(() => {
        isOver = true;
      });
    for (let at = 0; !isOver; at += 1)
      longest = Math.max(longest, await createSlowly(town, `e${at}`));
    await attacking;
  });
  const used = await usedByGuests(town);
  const left = sockets.filter(({ closed }) => !closed).length;
  for (const socket of sockets) socket.destroy();
  assert.ok(used > 0 && used <= (3 / 8) * budget, `${used} bytes of requests are held`);
  assert.ok(left > 0 && left <= strangers / 3, `${left} of ${strangers} are held without a body`);
  assert.ok(longest <= servedMsMax, `a request in pieces took ${longest} ms`);
});

test('a large head goes with its answer, from a connection that is kept', async () => {
  await using town = await startNeighbourhood();
  const sockets: Socket[] = [];
  const ask = async (from: number) => {
    await manyTimes(strangers, async (at) => {
      const large = at % 2 === 0 ? fields : manyFields;
      const socket = await send(town, from + at, headOf('GET /api/v2/devices', large));
      if (!socket.closed) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      sockets.push(socket);
    });
  };
  await ask(0);
  for (const socket of sockets.splice(0)) socket.destroy();
  await sleep(1_000);
  const before = residentMebibytes(town.process.pid);
  await town.attack(() => ask(strangers));
  const grown = residentMebibytes(town.process.pid) - before;
  for (const socket of sockets) socket.destroy();
  assert.ok(grown <= 50, `${grown} MiB are held for ${strangers} connections that are idle`);
});
