import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const requests = 120;
/** Nearly a whole head of 16 KiB, with something behind the blanks. */
const blanks = `a${' '.repeat(15_000)}b`;
const fields = ['Connection', 'Content-Length', 'Transfer-Encoding', 'X-Any'];

/** The status of one request whose head has thousands of blanks in a field. */
async function send({ url }: Neighbourhood, at: number): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const localAddress = `127.0.9.${1 + (at % 200)}`;
  const socket = connect({ host, port: Number(port), localAddress, noDelay: true });
  const answered = new Promise<string>((resolve) => {
    socket.on('error', () => resolve('')).on('close', () => resolve(''));
    socket.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1', 9, 12)));
  });
  const name = fields[at % fields.length] ?? '';
  socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n${name}: ${blanks}\r\n\r\n`);
  const status = await answered;
  socket.destroy();
  return status;
}

test('thousands of blanks in a field of a head keep nobody else waiting', async () => {
  await using town = await startNeighbourhood();
  const statuses = new Set<string>();
  await town.attack(() => manyTimes(requests, async (at) => statuses.add(await send(town, at))));
  assert.deepEqual([...statuses].toSorted(), ['200', '400']);
});

test('thousands of blanks in a time or a place keep nobody else waiting', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('eve');
  const sensors = [{ id: 's' }];
  const json = { id: 'eves', visibility: 'public', sensors };
  assert.equal((await town.call({ method: 'POST', path: '/devices', token, json })).status, 204);
  const csv = `timestamp,value\n1${' '.repeat(60_000)}!,1\n`;
  const place = `5.6${' '.repeat(60_000)}!`;
  const values = { path: '/devices/eves/sensors/s/values', body: csv, type: 'text/csv' };
  const location = { path: '/devices/eves/location', body: place, type: 'text/plain' };
  await town.attack(() =>
    manyTimes(40, async (at) => {
      // A guest pushes, the owner moves it.
      const sent = { method: 'POST', ...values };
      const request = at % 2 === 0 ? sent : { method: 'PUT', token, ...location };
      const { status, text } = await town.call(request);
      assert.equal(status, 400, text);
    }),
  );
});
