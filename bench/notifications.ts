// What notifications cost a push, and how fast deliveries leave for a webhook on this machine:
// node bench/notifications.ts [notifications, default 100 000] [deliveries, default 5 000]
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import type { Traffic } from '../tools/bench/load-slice.ts';
import { compare } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';

const notificationsTotal = Number(process.argv[2] ?? 100_000);
const deliveriesTotal = Number(process.argv[3] ?? 5_000);
const devices = 100;
const sensorsPerDevice = 100;
const users = 100;
const requestsInFlight = 16;
const connections = 64;
const pace = { sliceMs: 2_000, rounds: 7 };
/** No answer is waited for longer. */
const deliveriesMs = 120_000;

const sensorIds = Array.from({ length: sensorsPerDevice }, (_, index) => `S${index}`);
const idsOf = (kind: string) => Array.from({ length: devices }, (_, index) => `${kind}-${index}`);

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
}

async function call(url: string, { method = 'POST', path, token, json }: Call): Promise<string> {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`);
}

/** Runs the tasks, a few at a time. */
async function inParallel(count: number, task: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await task(index);
    }
  };
  await Promise.all(Array.from({ length: requestsInFlight }, worker));
}

/** Pushes in turn to all sensors of the devices; the values never come near the threshold. */
function pushTraffic(token: string, deviceIds: readonly string[]): Traffic {
  let sequences = 0;
  return {
    expectedStatus: 204,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf(sequence) {
      const device = deviceIds[sequence % devices] ?? '';
      const sensor = sensorIds[Math.floor(sequence / devices) % sensorsPerDevice] ?? '';
      return pushOf(token, `/devices/${device}/sensors/${sensor}/value`, sequence % 100);
    },
    acknowledge: () => undefined,
  };
}

function pushOf(token: string, path: string, value: number): string {
  const body = `{"value":${value}}`;
  return (
    `POST /api/v2${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

async function populate(url: string, token: string): Promise<void> {
  for (const id of [...idsOf('watched'), ...idsOf('plain')]) {
    const json = { id, sensors: sensorIds.map((sensorId) => ({ id: sensorId })) };
    await call(url, { path: '/devices', token, json });
  }
  const tokens: string[] = [];
  for (let index = 0; index < users; index += 1) {
    const login = { username: `watcher-${index}`, password: 'password of a watcher' };
    await call(url, { path: '/users', json: login });
    tokens.push(await call(url, { path: '/auth/token', json: login }));
  }
  const watched = idsOf('watched');
  const startedAt = performance.now();
  await inParallel(notificationsTotal, async (index) => {
    const sensor = sensorIds[Math.floor(index / devices) % sensorsPerDevice] ?? '';
    const owner = tokens[index % users] ?? '';
    const json = {
      condition: {
        devices: [watched[index % devices]],
        sensors: [sensor],
        expression: `${sensor} > ${1_000 + index}`,
      },
      action: { usernames: ['watcher-0'], channels: ['webhook'], message: `{${sensor}} is high` },
      throttling: 60,
    };
    await call(url, { path: '/notifications', token: owner, json });
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const rate = Math.round(notificationsTotal / seconds);
  console.log(`made ${notificationsTotal} notifications, ${rate}/s`);
}

async function comparePaths(port: number, token: string): Promise<void> {
  const { ours, noOp, ratio } = await compare({
    ours: { port, traffic: pushTraffic(token, idsOf('watched')) },
    noOp: { port, traffic: pushTraffic(token, idsOf('plain')) },
    connections,
    pace,
    signal: new AbortController().signal,
  });
  const perSecond = (rate: number) => `${Math.round(rate)}/s`;
  console.log(
    `pushes to watched sensors ${perSecond(ours.perSecond)}, to others ` +
      `${perSecond(noOp.perSecond)}: a watched push takes ${(1 / ratio).toFixed(2)} times as long`,
  );
}

async function deliver(url: string, token: string): Promise<void> {
  const received = new Set<string>();
  const whole = Promise.withResolvers<void>();
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      received.add(JSON.parse(body).id);
      response.end();
      if (received.size === deliveriesTotal) whole.resolve();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const webhook = [`http://127.0.0.1:${port}/`];
  await call(url, { method: 'PUT', path: '/users/me', token, json: { webhook } });
  await call(url, { path: '/devices', token, json: { id: 'firing', sensors: [{ id: 'S0' }] } });
  const condition = { devices: ['firing'], sensors: ['S0'], expression: 'S0 >= 0' };
  const action = { usernames: ['admin'], channels: ['webhook'], message: '{S0}' };
  await call(url, { path: '/notifications', token, json: { condition, action } });
  const late = setTimeout(() => whole.reject(new Error('deliveries are missing')), deliveriesMs);
  const startedAt = performance.now();
  await inParallel(deliveriesTotal, (value) =>
    call(url, { path: '/devices/firing/sensors/S0/value', token, json: { value } }),
  );
  const pushedAt = performance.now();
  await whole.promise;
  clearTimeout(late);
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${deliveriesTotal} firing pushes in ${((pushedAt - startedAt) / 1_000).toFixed(1)} s, ` +
      `delivered after ${seconds.toFixed(1)} s: ${Math.round(deliveriesTotal / seconds)}/s`,
  );
  receiver.closeAllConnections();
  receiver.close();
}

using directory = temporaryDirectory();
await using service = await startBenchService(directory.path, {
  mqttPort: 0,
  environment: { KIPIMO_WEBHOOK_PRIVATE: 'allowed' },
});
const token = await call(service.url, { path: '/auth/token', json: benchLogin });
await populate(service.url, token);
await comparePaths(service.port, token);
await deliver(service.url, token);
