import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createPort, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Budget, createWaitingBudget, payerAt } from '../domain/budgets/budget.ts';
import { refuseBrokenRequest } from './broken-request.ts';
import { createNodeHttp } from './request-gate.ts';

const push = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1';
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const total = 1_048_576;
/** Longer than what requests that come at once may take before others wait. */
const sliceMs = 10;

/** A port whose connections node:http takes over, and a client of it. */
async function openPort(t: TestContext, server: Server) {
  server.on('clientError', refuseBrokenRequest);
  const quotas = { total, perAccount: total, perAddress: total, guests: total, floor: 0 };
  const rule = { what: 'heads', unit: 'bytes', answer: 'rate', refused: '', ...quotas } as const;
  const budget = new Budget('heads', rule);
  const room = createWaitingBudget(budget);
  const node = createNodeHttp(server, {
    identify: async () => payerAt('192.0.2.2'),
    payerOf: () => payerAt('192.0.2.2'),
    ...{ room, listeners: server.listeners('connection'), headersMs: 60_000, checkMs: 60_000 },
  });
  const port = createPort();
  t.after(() => {
    node.close();
    port.close();
  });
  await once(port.listen(0, '127.0.0.1'), 'listening');
  /** A client, and its connection as the port accepted it. */
  async function dial() {
    const accepted = once(port, 'connection');
    const client = connect({ port: (port.address() as AddressInfo).port, host: '127.0.0.1' });
    client.setEncoding('latin1').on('error', () => undefined);
    t.after(() => client.destroy());
    const [connection] = (await accepted) as [Socket];
    return { client, connection };
  }
  return { budget, room, node, dial };
}

test('a push under way is answered before its connection ends for want of budget', async (t) => {
  const begun: ServerResponse[] = [];
  const server = createServer((_request, answer) => {
    begun.push(answer);
  });
  const { budget, room, node, dial } = await openPort(t, server);
  const { client, connection } = await dial();
  let heard = '';
  client.on('data', (text: string) => {
    heard += text;
  });
  const over = once(client, 'close');
  node.takeOver(connection, Buffer.from(push + push), false);
  assert.ok(budget.used > 0);
  // Others need all of the budget: the push that waits goes, not the one that is under way.
  const other = room.place({ payerOf: () => payerAt('192.0.2.1'), end: () => undefined });
  assert.ok(other.hold(total));
  begun[0]?.writeHead(204).end();
  await over;
  assert.match(heard, /^HTTP\/1\.1 204 .*HTTP\/1\.1 429 /s);
  assert.equal(begun.length, 1);
});

test('a request of a connection begins when the answer before it has left', async (t) => {
  const begun: ServerResponse[] = [];
  const server = createServer((_request, answer) => {
    begun.push(answer);
  });
  const { node, dial } = await openPort(t, server);
  const { client, connection } = await dial();
  const all = 1_000;
  let answers = 0;
  client.on('data', (text: string) => {
    answers += text.split('HTTP/1.1 204').length - 1;
  });
  node.takeOver(connection, Buffer.from(get.repeat(all)), false);
  for (let passes = 0; passes < 2 * all; passes += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(begun.length, 1, `${begun.length} requests began`);
  while (answers < all) {
    assert.ok(begun.length <= 1, `${begun.length} requests began`);
    for (const answer of begun.splice(0)) answer.writeHead(204).end();
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('requests that come at once on many connections begin in slices', async (t) => {
  let begun = 0;
  const server = createServer((_request, answer) => {
    begun += 1;
    const startedAt = performance.now();
    while (performance.now() - startedAt < sliceMs);
    answer.writeHead(204).end();
  });
  const { node, dial } = await openPort(t, server);
  const pairs = [await dial(), await dial(), await dial()];
  const half = await dial();
  const answers = pairs.map(({ client }) => once(client, 'data'));
  for (const { connection } of pairs) node.takeOver(connection, Buffer.from(get + get), false);
  assert.equal(begun, 1);
  node.takeOver(half.connection, Buffer.from(get.slice(0, 20)), false);
  for (let polls = 0; polls < 1_000 && begun < 2 * pairs.length; polls += 1) {
    const before = begun;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(begun - before <= 1);
  }
  // The rest of a head that is not whole is read at once: it needs no slice.
  assert.ok(!half.connection.isPaused());
  for (const [text] of await Promise.all(answers)) assert.match(String(text), /^HTTP\/1\.1 204 /);
});

test('a request gets on as far as it does at once before the next one begins', async (t) => {
  let handled = 0;
  const server = createServer((request, answer) => {
    const handle = () => {
      handled += 1;
      const startedAt = performance.now();
      while (performance.now() - startedAt < sliceMs);
      answer.writeHead(204).end();
    };
    if (request.method === 'GET') handle();
    else request.resume().on('end', handle);
  });
  const { node, dial } = await openPort(t, server);
  const first = await dial();
  const dials = [await dial(), await dial(), await dial(), await dial()];
  const answers = [first, ...dials].map(({ client }) => once(client, 'data'));
  node.takeOver(first.connection, Buffer.from(get), false);
  for (const { connection } of dials) node.takeOver(connection, Buffer.from(push), false);
  for (let polls = 0; polls < 1_000 && handled <= dials.length; polls += 1) {
    const before = handled;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(handled - before <= 1, `${handled - before} requests in one turn`);
  }
  await Promise.all(answers);
});

test('bodies of many chunks go on in slices, however many come at once', async (t) => {
  const chunks = 3_000;
  let [seen, ended] = [0, 0];
  const server = createServer((request, answer) => {
    request.on('data', ({ length }: Buffer) => {
      seen += length;
      const startedAt = performance.now();
      while (performance.now() - startedAt < sliceMs / 256);
    });
    request.on('end', () => {
      ended += 1;
      answer.writeHead(204).end();
    });
  });
  const { budget, node, dial } = await openPort(t, server);
  const dials = [await dial(), await dial(), await dial()];
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const body = Buffer.from(`${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`);
  const answers = dials.map(({ client }) => once(client, 'data'));
  for (const { connection } of dials) node.takeOver(connection, body, false);
  let most = 0;
  for (let polls = 0; polls < 1_000 && ended < dials.length; polls += 1) {
    const before = seen;
    await new Promise((resolve) => setImmediate(resolve));
    if (polls > 0) most = Math.max(most, seen - before);
  }
  assert.equal(seen, chunks * dials.length);
  assert.ok(most <= 2 * 512, `${most} chunks in one turn`);
  for (const [text] of await Promise.all(answers)) assert.match(String(text), /^HTTP\/1\.1 204 /);
  assert.equal(budget.used, 0);
});

test('bodies under way that go on at once do so in slices, too', async (t) => {
  const [connections, chunks] = [10, 400];
  let [seen, begun] = [0, 0];
  const server = createServer((request, answer) => {
    begun += 1;
    request.on('end', () => answer.writeHead(204).end());
    request.on('data', ({ length }: Buffer) => {
      seen += length;
    });
  });
  const { node, dial } = await openPort(t, server);
  const dials = [];
  for (let count = 0; count < connections; count += 1) dials.push(await dial());
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n';
  for (const { connection } of dials) node.takeOver(connection, Buffer.from(head), false);
  while (begun < connections) await new Promise((resolve) => setImmediate(resolve));
  // Each reading of the clock is a millisecond later.
  let now = performance.now();
  t.mock.method(performance, 'now', () => (now += 1));
  const body = `${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;
  const answers = dials.map(({ client }) => once(client, 'data'));
  // As one poll of the sockets reads them.
  for (const { connection } of dials) connection.emit('data', Buffer.from(body));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(seen <= (connections * chunks) / 2, `${seen} chunks in one turn`);
  for (const [text] of await Promise.all(answers)) assert.match(String(text), /^HTTP\/1\.1 204 /);
  assert.equal(seen, connections * (chunks + 1));
});

test('requests that wait for their slice begin when the server closes', async (t) => {
  let begun = 0;
  const server = createServer((_request, answer) => {
    begun += 1;
    const startedAt = performance.now();
    while (performance.now() - startedAt < sliceMs);
    setImmediate(() => answer.writeHead(204).end());
  });
  const { node, dial } = await openPort(t, server);
  const pairs = [await dial(), await dial(), await dial()];
  const answers = pairs.map(({ client }) => once(client, 'data'));
  for (const { connection } of pairs) node.takeOver(connection, Buffer.from(get), false);
  assert.equal(begun, 1);
  node.close();
  assert.equal(begun, pairs.length);
  server.closeIdleConnections();
  for (const [text] of await Promise.all(answers)) assert.match(String(text), /^HTTP\/1\.1 204 /);
});

test('a request counts until its body is whole, and ends first where that drips', async (t) => {
  const server = createServer((request, answer) => {
    request.resume().on('end', () => answer.writeHead(204).end());
  });
  const { budget, room, node, dial } = await openPort(t, server);
  const [dripping, sending] = [await dial(), await dial()];
  const head = Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n');
  node.takeOver(dripping.connection, head, false);
  const each = budget.used;
  assert.ok(each > 10_000, `${each} bytes are counted for a request`);
  node.takeOver(sending.connection, head, false);
  const send = async ({ client, connection }: typeof sending, bytes: number) => {
    const arrived = once(connection, 'data');
    client.write('x'.repeat(bytes));
    await arrived;
  };
  await send(sending, 1_000);
  await send(dripping, 1);
  assert.equal(budget.used, 2 * each);
  const answers = [dripping, sending].map(async ({ client }) => `${await once(client, 'data')}`);
  const first = Promise.race(answers.map((answer, at) => answer.then(() => at)));
  const other = room.place({ payerOf: () => payerAt('192.0.2.1'), end: () => undefined });
  assert.ok(other.hold(total - each));
  assert.equal(await first, 0, 'who sent much was refused before who dripped');
  assert.match((await answers[0]) ?? '', /^HTTP\/1\.1 429 .*\r\nretry-after: 10\r\n/s);
  await send(sending, 3_000);
  assert.match((await answers[1]) ?? '', /^HTTP\/1\.1 204 /);
  assert.equal(budget.used, total - each);
});

test('connections that come at once are begun and refused some at a time', async (t) => {
  const { node, dial } = await openPort(t, createServer());
  const dialled = await Promise.all(Array.from({ length: 30 }, dial));
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  let refused = 0;
  for (const { connection, client } of dialled) {
    const write = connection.end.bind(connection);
    t.mock.method(connection, 'end', (text: string) => {
      refused += 1;
      // Each refusal takes a while.
      now += 1;
      return write(text);
    });
    client.resume();
  }
  for (const { connection } of dialled) {
    node.takeOver(connection, Buffer.from('GET  / HTTP/1.1\r\n\r\n'), false);
  }
  let most = 0;
  for (let turn = 0; refused < 30 && turn < 300; turn += 1) {
    const before = refused;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, refused - before);
  }
  assert.equal(refused, 30);
  assert.ok(most <= 12, `${most} in one turn`);
});

test('heads that become whole after the takeover begin some at a time', async (t) => {
  let begun = 0;
  const server = createServer((_request, answer) => {
    begun += 1;
    const startedAt = performance.now();
    while (performance.now() - startedAt < 2);
    answer.writeHead(204).end();
  });
  const { node, dial } = await openPort(t, server);
  const connections: Socket[] = [];
  for (let count = 0; count < 30; count += 1) connections.push((await dial()).connection);
  for (const connection of connections) {
    node.takeOver(connection, Buffer.from(get.slice(0, 20)), false);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const connection of connections) connection.emit('data', Buffer.from(get.slice(20)));
  assert.ok(begun < 15, `${begun} began in one turn`);
});

test('the end of a client that comes while its takeover waits is noticed', async (t) => {
  const server = createServer((_request, answer) => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < 10);
    answer.writeHead(204).end();
  });
  const { node, dial } = await openPort(t, server);
  const dials: Awaited<ReturnType<typeof dial>>[] = [];
  for (let count = 0; count < 20; count += 1) dials.push(await dial());
  const closed = dials.map(({ client, connection }) => {
    connection.pause();
    node.takeOver(connection, Buffer.from(get), false);
    client.resume().end();
    return once(client, 'close');
  });
  await Promise.race([
    Promise.all(closed),
    new Promise((_, reject) => setTimeout(() => reject(new Error('half closed')), 5_000).unref()),
  ]);
});

test('bytes that come while a connection waits for its slice are read in it', async (t) => {
  const server = createServer((request, answer) => {
    answer.end(request.url);
  });
  const { node, dial } = await openPort(t, server);
  const [first, second] = [await dial(), await dial()];
  // As a connection that was read from before, and whose reader has left it.
  const ignore = (): void => undefined;
  second.connection.on('data', ignore);
  await new Promise((resolve) => setTimeout(resolve, sliceMs));
  second.connection.off('data', ignore);
  node.takeOver(first.connection, Buffer.from(get), false);
  const until = performance.now() + sliceMs;
  while (performance.now() < until);
  // The first took all of this turn: the second waits for the next one.
  node.takeOver(second.connection, Buffer.from('GET /some'), false);
  await new Promise((resolve) => second.client.write('where HTTP/1.1\r\nHost: x\r\n\r\n', resolve));
  const [heard] = await once(second.client, 'data');
  assert.match(String(heard), /^HTTP\/1\.1 200 .*\/somewhere/s);
});
