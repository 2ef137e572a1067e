import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { test } from 'node:test';
import fc, { array, constantFrom, integer, property, string } from 'fast-check';
import { measureAnswer } from './http-answer.ts';
import { createLatencyHistogram } from './latency-histogram.ts';
import { measureCrowd } from './mqtt-crowd.ts';
import { compare, measure, median } from './rounds.ts';
import { createPushTraffic, createReadTraffic } from './traffic.ts';

const signal = new AbortController().signal;
const pace = { sliceMs: 20, rounds: 2 };

test('a quantile is exact to 1.6 percent, or to a microsecond', () => {
  const latencies = array(integer({ min: 0, max: 60_000_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    property(latencies, integer({ min: 1, max: 100 }), (microseconds, percent) => {
      const histogram = createLatencyHistogram();
      for (const latency of microseconds) histogram.record(latency / 1_000);
      const sorted = microseconds.toSorted((one, other) => one - other);
      const exact = sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN;
      const told = histogram.quantile(percent / 100) * 1_000;
      assert.ok(told >= exact - 0.001 && told <= exact * (1 + 1 / 64) + 0.001, `${exact}: ${told}`);
      assert.equal(histogram.count, microseconds.length);
    }),
  );
});

test('latencies beyond a minute are counted in the last bucket', () => {
  const histogram = createLatencyHistogram();
  histogram.record(10_000_000);
  assert.ok(histogram.quantile(1) > 60_000);
});

test('an answer is measured when its last byte has come, not before', () => {
  const bodies = string({ maxLength: 300 });
  const names = constantFrom('Content-Length', 'content-length');
  fc.assert(
    property(bodies, names, constantFrom(200, 404), (body, name, status) => {
      const { byteLength } = Buffer.from(body);
      const whole = Buffer.from(
        `HTTP/1.1 ${status} X\r\nA: b\r\n${name}: ${byteLength}\r\n\r\n${body}`,
      );
      for (let end = 0; end < whole.length; end += 1) {
        assert.equal(measureAnswer(whole.subarray(0, end)), undefined);
      }
      assert.deepEqual(measureAnswer(whole), { status, length: whole.length });
    }),
    { numRuns: 20 },
  );
});

test('a 204 ends with its head; what has no length or is no HTTP is refused', () => {
  const head = 'HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n';
  assert.deepEqual(measureAnswer(Buffer.from(head)), { status: 204, length: head.length });
  assert.throws(() => measureAnswer(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /no Content-Length/);
  assert.throws(() => measureAnswer(Buffer.from('SSH-2.0-OpenSSH\r\n\r\n')), /no HTTP/);
});

test('pushes are valid, of one length, and never the same twice', () => {
  const traffic = createPushTraffic({ token: 'abc', startAt: Date.UTC(2026, 0, 1) });
  const sequences = Array.from({ length: 2_000 }, () => traffic.next());
  const requests = sequences.map((sequence) => traffic.requestOf(sequence));
  assert.equal(new Set(requests).size, 2_000);
  for (const request of requests) {
    const [head = '', body = ''] = request.split('\r\n\r\n');
    assert.equal(Number(/Content-Length: (\d+)/.exec(head)?.[1]), body.length);
    assert.deepEqual(Object.keys(JSON.parse(body)), ['value', 'timestamp']);
  }
  traffic.acknowledge(5);
  traffic.acknowledge(205);
  assert.deepEqual([...traffic.acknowledged.slice(4, 7)], [0, 2, 0]);
});

test('the median is the middle one, or between the two in the middle', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(median([7]), 7);
});

test('every request of a slice is answered before the slice is over', async () => {
  let answered = 0;
  await using server = await listen((respond) => {
    answered += 1;
    respond(200, 'hello');
  });
  const traffic = createReadTraffic({ paths: ['/a', '/b'], token: 'abc' });
  const side = { port: server.port, traffic };
  const figures = await compare({ ours: side, noOp: side, connections: 3, pace, signal });
  assert.equal(traffic.next(), answered);
  assert.ok(answered >= 12 && figures.ratio > 0);
  assert.ok(figures.ours.p50Ms <= figures.ours.p99Ms);
});

test('a wrong status, a closed connection and a stopped run end the measurement', async () => {
  await using refusing = await listen((respond) => respond(503, 'busy'));
  await using closing = await listenRaw();
  const traffic = createReadTraffic({ paths: ['/'], token: 'abc' });
  const of = (port: number, stop: AbortSignal = signal) =>
    measure({ side: { port, traffic }, connections: 2, pace, signal: stop });
  await assert.rejects(of(refusing.port), /answers were wrong; the first: HTTP\/1.1 503/);
  await assert.rejects(of(closing.port), /closed a connection/);
  await assert.rejects(of(refusing.port, AbortSignal.abort(new Error('stopped'))), /stopped/);
});

type Respond = (status: number, body: string) => void;

async function listen(onRequest: (respond: Respond) => void) {
  const server = createServer((_request, response) => {
    onRequest((status, body) =>
      response.writeHead(status, { 'content-length': body.length }).end(body),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Hangs up at the first byte. */
async function listenRaw() {
  const server = createSocketServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a crowd comes from many addresses, where the system has them', async () => {
  const peers = new Map<string, number>();
  const server = createSocketServer((socket) => {
    const address = socket.remoteAddress ?? '';
    peers.set(address, (peers.get(address) ?? 0) + 1);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.from([0x20, 2, 0, 0])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const login = (index: number) => ({ clientId: `idle-${index}` });
  const crowd = await measureCrowd({ port, pid: process.pid, connections: 1_100, login });
  server.close();
  assert.equal(crowd.connections, 1_100);
  const expected = process.platform === 'darwin' ? [1_100] : [1_000, 100];
  assert.deepEqual([...peers.values()], expected);
});
