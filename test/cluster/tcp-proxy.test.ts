import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openProxy } from './tcp-proxy.ts';

test('nothing overtakes what came before, also when a delay is over', async () => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => received.push(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await openProxy((server.address() as AddressInfo).port);
  const client = connect(proxy.port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'connect');
  let sent = '';
  for (let at = 0; at < 60; at += 1) {
    if (at % 20 === 10) proxy.delay(50);
    if (at % 20 === 0) proxy.delay(0);
    client.write(`${at},`);
    sent += `${at},`;
    await wait(3);
  }
  client.end();
  while (Buffer.concat(received).length < sent.length) await wait(10);
  assert.equal(Buffer.concat(received).toString(), sent);
  await proxy.close();
  server.close();
});
