import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { type Service, startService } from '../service.ts';

/** The first byte of TLS: a handshake begins, and goes no further. */
const firstByte = Buffer.from([0x16]);
const stranger = '127.0.0.1';
const honest = '127.0.0.2';

let directory: string;
let service: Service;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-handshakes-'));
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const files = ['-subj', '/CN=a', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
  service = await startService({
    environment: {
      KIPIMO_TLS_CERT: cert,
      KIPIMO_TLS_KEY: key,
      KIPIMO_MQTTS_PORT: '0',
      // Of one address a quarter: 10.
      KIPIMO_BUDGETS: 'tls_handshakes=40',
    },
  });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const portOf = (url: string | undefined): number => Number(new URL(url ?? '').port);

/** Begins a handshake from this address; the promise tells when it was ended by the service. */
async function begin(port: number): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: stranger });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([once(socket, 'connect'), closed]);
  socket.write(firstByte);
  return { socket, closed };
}

/** Carries a handshake out; false: it was ended. */
function shakeHands(port: number, localAddress: string): Promise<boolean> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false },
    ...({ localAddress } as object),
  });
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

test('one address has its share of handshakes under way, on every TLS port', async () => {
  const ports = [portOf(service.url), portOf(service.app.mqttsUrl)];
  const begun = [];
  for (let index = 0; index < 30; index += 1) begun.push(await begin(ports[index % 2] ?? 0));
  // Twenty found no room; the others wait for as long as a handshake may take.
  await Promise.all(begun.slice(10).map(({ closed }) => closed));
  const open = begun.filter(({ socket }) => !socket.destroyed);
  assert.equal(open.length, 10);
  for (const port of ports) {
    assert.equal(await shakeHands(port, stranger), false);
    assert.equal(await shakeHands(port, honest), true);
  }
  for (const { socket, closed } of open) {
    socket.destroy();
    await closed;
  }
  // Those that were carried out give their room back as well: more of them than there is room.
  for (let index = 0; index < 25; index += 1) {
    let isDone = await shakeHands(ports[index % 2] ?? 0, stranger);
    // The service learns a little later that the ten are gone.
    for (let again = 0; index === 0 && !isDone && again < 100; again += 1) {
      isDone = await shakeHands(ports[0] ?? 0, stranger);
    }
    assert.equal(isDone, true, `handshake ${index}`);
  }
});

test('a handshake that is over leaves room while its connection stays open', async () => {
  const port = portOf(service.url);
  const sockets = [];
  for (let index = 0; index < 25; index += 1) {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
    sockets.push(socket);
  }
  assert.ok(sockets.every((socket) => !socket.destroyed));
  for (const socket of sockets) socket.destroy();
});

test('handshakes that stop in the middle make room for one that goes on', async () => {
  const port = portOf(service.url);
  const sockets: Socket[] = [];
  // All guests together have 20.
  for (let index = 0; index < 45; index += 1) {
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.3.${index}` });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    socket.write(firstByte);
    sockets.push(socket);
  }
  for (let index = 0; index < 5; index += 1) assert.equal(await shakeHands(port, honest), true);
  for (const socket of sockets) socket.destroy();
});
