import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { closed, type Endpoint, halves, leavings, openHalf } from './raw-connections.ts';
import { type Service, type ServiceOptions, startService } from './service.ts';

const timeouts = {
  // A handshake takes longer than this on a busy machine, and then the client is cut off.
  handshakeMs: 60_000,
  headersMs: 100,
  requestMs: 200,
  keepAliveMs: 100,
  unreadMs: 60_000,
  drainMs: 10_000,
};
const hasty = { ...timeouts, handshakeMs: 100 };
const patient = {
  handshakeMs: 60_000,
  headersMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  unreadMs: 60_000,
};
let directory: string;
let withTls: NonNullable<ServiceOptions['environment']>;

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-connections-'));
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(directory, name));
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const files = ['-subj', '/CN=localhost', '-keyout', key ?? '', '-out', cert ?? ''];
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
  withTls = { KIPIMO_TLS_CERT: cert ?? '', KIPIMO_TLS_KEY: key ?? '', KIPIMO_MQTTS_PORT: '0' };
});

after(() => rmSync(directory, { recursive: true }));

function ownerOfTopic(url: string | undefined): Endpoint {
  const { hostname, port } = new URL(url ?? '');
  return { host: hostname, port: Number(port) };
}

const portsOf = ({ app }: Service): readonly Endpoint[] =>
  [app.url, app.mqttUrl, app.mqttsUrl].filter((url) => url !== undefined).map(ownerOfTopic);

/** All that says nothing at this moment has been answered when this resolves: it came last. */
async function silenceWasAnswered(place: Endpoint): Promise<void> {
  const twin = await openHalf(place, new Uint8Array(), { reads: true });
  await new Promise((resolve) => twin.once('end', resolve));
  twin.destroy();
}

/** A TLS connection after its handshake, and the TCP connection below it. */
async function openSecure(
  place: Endpoint,
): Promise<{ readonly tls: Socket; readonly tcp: Socket }> {
  const tcp = await openHalf(place, new Uint8Array(), { reads: false });
  return new Promise((resolve, reject) => {
    const tls = connectTls({ socket: tcp, rejectUnauthorized: false }, () => {
      tls.off('error', reject);
      tls.on('error', () => undefined);
      resolve({ tls, tcp });
    });
    tls.on('error', reject);
  });
}

for (const [how, leave] of Object.entries(leavings)) {
  test(`whoever stops in the middle and leaves by ${how} harms nobody, on any port`, async () => {
    for (const environment of [{}, withTls]) {
      await using service = await startService({ timeouts, environment });
      for (const place of portsOf(service)) {
        for (const bytes of Object.values(halves)) {
          const socket = await openHalf(place, bytes, { reads: false });
          leave(socket);
          socket.resume();
          await closed(socket);
        }
      }
      await assertAlive(service);
    }
  });

  test(`whoever waits for every time-out and then leaves by ${how} harms nobody`, async () => {
    for (const environment of [{}, withTls]) {
      await using service = await startService({ timeouts: hasty, environment });
      const place = ownerOfTopic(service.app.url);
      const sockets = await Promise.all(
        Object.values(halves).map((bytes) => openHalf(place, bytes, { reads: false })),
      );
      await silenceWasAnswered(place);
      // Requests have longer than heads.
      await silenceWasAnswered(place);
      for (const socket of sockets) leave(socket);
      for (const socket of sockets) socket.resume();
      await Promise.all(sockets.map(closed));
      await assertAlive(service);
    }
  });
}

test('a TLS connection that is reset in the middle of what it says harms nobody', async () => {
  await using service = await startService({ timeouts, environment: withTls });
  for (const place of portsOf(service).filter(({ port }) => port !== mqttPortOf(service))) {
    for (const bytes of Object.values(halves)) {
      const { tls, tcp } = await openSecure(place);
      if (bytes.length > 0) await new Promise((resolve) => tls.write(bytes, resolve));
      tcp.resetAndDestroy();
      await closed(tcp);
    }
    if (place.port !== ownerOfTopic(service.app.url).port) continue;
    const silent = await openSecure(place);
    await new Promise((resolve) => silent.tls.once('readable', resolve));
    silent.tcp.resetAndDestroy();
    await closed(silent.tcp);
  }
  await assertAlive(service);
});

const mqttPortOf = ({ app }: Service): number => ownerOfTopic(app.mqttUrl).port;

test('a handshake that never ends is ended, over HTTPS and MQTTS', async () => {
  await using service = await startService({ timeouts: hasty, environment: withTls });
  for (const place of portsOf(service).filter(({ port }) => port !== mqttPortOf(service))) {
    const socket = await openHalf(place, halves['half a TLS hello'] ?? new Uint8Array(), {
      reads: true,
    });
    await new Promise((resolve) => socket.once('end', resolve));
    socket.destroy();
  }
});

test('a peer that never closes its side is cut off after it was told goodbye', async () => {
  await using service = await startService({ timeouts });
  const silent = await openHalf(ownerOfTopic(service.url), new Uint8Array(), { reads: true });
  await new Promise((resolve) => silent.once('end', resolve));
  // The client's side stays open; writing to a connection that is gone is answered with a reset.
  const gone = new Promise((resolve) => silent.once('close', resolve));
  const poke = setInterval(() => silent.write('x'), 50).unref();
  await gone;
  clearInterval(poke);
});

test('the end of the service waits for nobody, whatever state a connection is in', async () => {
  for (const environment of [{}, withTls]) {
    const service = await startService({ timeouts: { ...patient, drainMs: 300 }, environment });
    const left = await Promise.all(
      portsOf(service).flatMap((place) =>
        Object.values(halves).map((bytes) => openHalf(place, bytes, { reads: false })),
      ),
    );
    // Who comes while it closes must not be forgotten either.
    const late = Promise.allSettled(
      Object.values(halves).map((bytes) =>
        openHalf(ownerOfTopic(service.app.url), bytes, { reads: false }),
      ),
    );
    await service[Symbol.asyncDispose]();
    const sockets = [...left, ...(await late).flatMap(socketIn)];
    for (const socket of sockets) socket.resume();
    for (const socket of sockets) socket.end();
    await Promise.all(sockets.map(closed));
  }
});

const socketIn = (result: PromiseSettledResult<Socket>): readonly Socket[] =>
  result.status === 'fulfilled' ? [result.value] : [];

async function assertAlive(service: Service): Promise<void> {
  // Errors of sockets come in later turns of the event loop than what caused them.
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  // A busy machine may be slower than the short time-outs of these tests.
  for (let isAlive = false; !isAlive; ) isAlive = await askForHealth(service);
}

/** false: the service did not wait for us; what else goes wrong is thrown. */
async function askForHealth(service: Service): Promise<boolean> {
  const place = ownerOfTopic(service.app.url);
  const socket = service.app.url.startsWith('https')
    ? await openSecure(place).then(
        ({ tls }) => tls,
        () => undefined,
      )
    : await openHalf(place, new Uint8Array(), { reads: false });
  if (socket === undefined) return false;
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  socket.destroy();
  assert.match(answer, /^HTTP\/1\.1 (200|408) /);
  return answer.startsWith('HTTP/1.1 200 ');
}

const text = 'x'.repeat(60_000);
const pages = 80;

/** A sensor with more than the machine keeps for a reader that does not read. */
async function hoard(service: Service): Promise<string> {
  const json = { id: 'hoard', visibility: 'public', sensors: [{ id: 's' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  const path = '/devices/hoard/sensors/s/values';
  for (let page = 0; page < pages; page += 1) {
    const values = Array.from({ length: 5 }, (_, index) => ({
      timestamp: `2026-01-0${1 + index}T00:00:00.${100 + page}Z`,
      value: text,
    }));
    assert.equal((await service.call({ method: 'POST', path, json: values })).status, 204);
  }
  return `GET /api/v2${path}?limit=1000000 HTTP/1.1\r\nhost: a\r\n\r\n`;
}

test('who reads nothing of an answer is cut off, who reads slowly is not', async () => {
  await using service = await startService({
    timeouts: { ...patient, unreadMs: 400, drainMs: 10_000 },
  });
  const request = await hoard(service);
  const place = ownerOfTopic(service.url);
  const silent = await openHalf(place, Buffer.from(request), { reads: false });
  const slow = await openHalf(place, Buffer.from(request), { reads: false });
  let read = 0;
  const reading = setInterval(() => {
    read += (slow.read() as Buffer | null)?.length ?? 0;
  }, 1).unref();
  // The next request, byte by byte, does not count as reading. A red test leaves no timer behind.
  const poke = setInterval(() => silent.write('G'), 50).unref();
  const cutOff = new Promise((resolve) => silent.once('close', resolve));
  while (read < pages * 5 * text.length) {
    assert.equal(slow.readableEnded, false, `cut off after ${read} bytes`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await cutOff;
  clearInterval(poke);
  clearInterval(reading);
  slow.destroy();
  await assertAlive(service);
});
