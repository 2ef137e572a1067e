import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createPort } from 'node:net';
import { test } from 'node:test';
import { Budget, createWaitingBudget } from '../domain/budgets/budget.ts';
import { payerAt } from '../domain/budgets/payer.ts';
import { refuseBrokenRequest } from './broken-request.ts';
import { nextAnswer } from './latest-answer.ts';
import { createNodeHttp } from './request-gate.ts';

const push = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1';
const total = 65_536;

test('a push under way is answered before its connection ends for want of budget', async (t) => {
  const begun: ServerResponse[] = [];
  const server = createServer((request, answer) => {
    nextAnswer(request.socket, answer);
    begun.push(answer);
  });
  server.on('clientError', refuseBrokenRequest);
  const quotas = { total, perAccount: total, perAddress: total, guests: total, floor: 0 };
  const rule = { what: 'heads', unit: 'bytes', answer: 'rate', refused: '', ...quotas } as const;
  const budget = new Budget('heads', rule);
  const room = createWaitingBudget(budget);
  const node = createNodeHttp(server, {
    ...{ room, listeners: server.listeners('connection'), headersMs: 60_000, checkMs: 60_000 },
  });
  const port = createPort((socket) => {
    socket.once('data', (bytes) => node.takeOver(socket, bytes, false));
  });
  t.after(() => {
    node.close();
    port.close();
  });
  await once(port.listen(0, '127.0.0.1'), 'listening');
  const dial = (text: string) => {
    const socket = connect({ port: (port.address() as AddressInfo).port, host: '127.0.0.1' });
    socket.on('error', () => undefined).write(text);
    t.after(() => socket.destroy());
    return socket;
  };
  const client = dial(push + push);
  let heard = '';
  client.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  const over = once(client, 'close');
  while (budget.used === 0) await once(server, 'request');
  // Others need all of the budget: the push that waits goes, not the one that is under way.
  const other = room.place({ payerOf: () => payerAt('192.0.2.1'), end: () => undefined });
  assert.ok(other.hold(total));
  begun[0]?.writeHead(204).end();
  await over;
  assert.match(heard, /^HTTP\/1\.1 204 .*HTTP\/1\.1 429 /s);
  assert.equal(begun.length, 1);
});
