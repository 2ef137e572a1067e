import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const mebibyte = 1_048_576;
const sendersOfLarge = 45;
const unfinishedBodies = 60;

async function makeDevice({ call, tokenOf }: Neighbourhood, owner: string) {
  const token = await tokenOf(owner);
  const json = { id: `of-${owner}`, sensors: [{ id: 'T' }] };
  const made = await call({ method: 'POST', path: '/devices', token, json });
  assert.equal(made.status, 204, made.text);
  return { token, path: `/devices/of-${owner}/sensors/T/values` };
}

test('45 bodies of 8 MiB, and arrays of all kinds, delay nobody else', async () => {
  await using town = await startNeighbourhood();
  const stranger = await makeDevice(town, 'stranger');
  const bodies = [
    `[${'{"value":1},'.repeat(Math.floor((8 * mebibyte) / 12) - 2)}{"value":1}]`,
    `[${'{"value":12345678901234567890},'.repeat(Math.floor((8 * mebibyte) / 31) - 2)}{"value":1}]`,
    `[${'[1],'.repeat(2 * mebibyte - 2)}1]`,
    `{"value":${JSON.stringify('x'.repeat(8 * mebibyte - 100))}}`,
    `[${'{"value":1},'.repeat(Math.floor((8 * mebibyte) / 12) - 2)}{"value":1]`,
    `timestamp,value\n${'2026-01-01T00:00:00Z,1\n'.repeat(Math.floor((8 * mebibyte) / 23) - 2)}`,
  ];
  const statuses = new Set<number>();
  await town.attack(async () => {
    await Promise.all(
      Array.from({ length: sendersOfLarge }, async (_, at) => {
        // Not all in the same instant: this process writes them, too.
        await sleep(at * 150);
        const body = bodies[at % bodies.length] ?? '';
        const type = body.startsWith('timestamp') ? 'text/csv' : 'application/json';
        const { token, path } = stranger;
        const reply = await town.call({ method: 'POST', path, token, body, type }).catch(() => ({
          status: 0,
        }));
        statuses.add(reply.status);
      }),
    );
  });
  // Refused for room, for size, for form, cut off while it was still being sent, or stored.
  for (const status of statuses) assert.ok([0, 204, 400, 413, 429].includes(status), `${status}`);
});

test('many middling pushes of three accounts at once delay nobody else', async () => {
  await using town = await startNeighbourhood();
  const strangers: { readonly token: string; readonly path: string }[] = [];
  for (const name of ['eve', 'mallory', 'trudy']) strangers.push(await makeDevice(town, name));
  // Just below what is read piece by piece.
  const datapoint = `{"value":"${'0123456789'.repeat(4)}"}`;
  const body = `[${Array(2_500).fill(datapoint).join()}]`;
  const statuses = new Map<number, number>();
  await town.attack(() =>
    manyTimes(
      1_500,
      async (index) => {
        const { token, path } = strangers[index % 3] ?? {};
        const { status } = await town.call({
          ...{ method: 'POST', path: path ?? '', body, type: 'application/json' },
          ...(token !== undefined && { token }),
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
      900,
    ),
  );
  const others = [...statuses.keys()].filter((status) => ![204, 429].includes(status));
  assert.deepEqual(others, [], JSON.stringify([...statuses]));
});

test('60 bodies of 8 MiB that never end take nobody else the room', async () => {
  await using town = await startNeighbourhood();
  const { hostname, port } = new URL(town.url);
  await town.attack(async () => {
    const part = Buffer.alloc(mebibyte, '[');
    const sockets: Socket[] = [];
    for (let at = 0; at < unfinishedBodies; at += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        'POST /api/v2/devices/honest-tank/sensors/level/values HTTP/1.1\r\nHost: x\r\n' +
          `Content-Type: application/json\r\nContent-Length: ${8 * mebibyte}\r\n\r\n`,
      );
      for (let written = 0; written < 7; written += 1) socket.write(part);
      sockets.push(socket.resume());
      // The honest client is in this process, too.
      await sleep(50);
    }
    await sleep(2_000);
    const { text } = await town.call({ path: '//metrics', token: await town.tokenOf('admin') });
    const used = /budget_used\{budget="partial_bytes",unit="bytes",by="all"\} (\d+)/.exec(
      text,
    )?.[1];
    assert.ok(Number(used) > mebibyte && Number(used) <= 64 * mebibyte, `${used} bytes are held`);
    for (const socket of sockets) socket.destroy();
  });
  await town.restart();
});
