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
