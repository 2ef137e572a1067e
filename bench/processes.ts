import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCitus } from '../test/cluster/citus-servers.ts';
import { openProxy } from '../test/cluster/tcp-proxy.ts';
import { schemaUrl, startPostgres } from '../test/postgres-server.ts';
import { connectPeer } from '../test/walks/mqtt-peer.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { openMqttConnections } from '../tools/bench/mqtt-connection.ts';
import { runMqttSlice } from '../tools/bench/mqtt-slices.ts';
import { createPublishTraffic, sensorTopics } from '../tools/bench/mqtt-traffic.ts';
import { openBenchClient } from '../tools/bench/population.ts';
import { median } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';
import { tableOfPushes } from './process-pushes.ts';

// Processes on one PostgreSQL that syncs each commit: pushes to one, two and three of them, with
// rules and without; of two the deliveries from one to the other, and how long a value waits
// between them, pushes beside a process whose link is slow, and a push and a kept session when a
// process or PostgreSQL goes away.
// node bench/processes.ts [--pairs 5] [--seconds 1] [--kills 5] [--connections 64]
// [--each: so many connections to each process, and not in all]
// [--only pushes] [--delays 0,5000] [--counts 1,2,3] [--kinds plain,calm,kept,corrected]
// [--program ANOTHER_CHECKOUT/bin/kipimo.js, beside which the pushes are measured]
// [--citus: also on a coordinator with two workers, eight parts]
// [--statements: what PostgreSQL counts of the statements of each load, in a slice of its own]

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    kills: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    each: { type: 'boolean', default: false },
    only: { type: 'string', default: 'pushes,others' },
    program: { type: 'string' },
    citus: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
    counts: { type: 'string', default: '1,2,3' },
    kinds: { type: 'string', default: 'plain,calm,kept' },
    delays: { type: 'string', default: '0,5000' },
  },
});
const sliceMs = Number(values.seconds) * 1_000;
const rounds = Number(values.pairs) + 1;
const subscribers = 10;
const [topic = '', topicOfFar = ''] = sensorTopics;
const delayed = 1_000;
const perSecond = 200;
const queued = 20;
const slowLinkMs = 500;
const inMs = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;
const count = (number: number): string => `${Math.round(number).toLocaleString('en')}/s`;
const { signal } = new AbortController();
const twelveHoursMs = 12 * 3_600_000;

const server = await startPostgres({
  isDurable: true,
  ...(values.statements && { more: ['shared_preload_libraries=pg_stat_statements'] }),
});
using directories = new DisposableStack();
await using services = new AsyncDisposableStack();
services.defer(() => server.close());
const only = values.only.split(',');
if (only.includes('pushes')) {
  const { program } = values;
  const citus = values.citus ? await startCitus({ isDurable: true }) : undefined;
  services.defer(() => citus?.close());
  const connections = { connections: Number(values.connections), isEach: values.each };
  const pace = { sliceMs, rounds: rounds - 1, ...connections };
  const rowsOfPushes = await tableOfPushes({
    ...{ server, ...pace, program, citusUrl: citus?.url, kinds: values.kinds.split(',') },
    countsStatements: values.statements,
    delays: values.delays.split(',').map(Number),
    counts: values.counts.split(',').map(Number),
  });
  process.stdout.write(`${table(rowsOfPushes)}\n`);
}
if (!only.includes('others')) {
  await services.disposeAsync();
  process.exit();
}
const environment = {
  KIPIMO_DATABASE_URL: await schemaUrl(server.url, 'processes'),
  KIPIMO_PROCESSES: 'several',
};

async function startProcess(more: Readonly<Record<string, string>> = {}) {
  const { path } = directories.use(temporaryDirectory());
  const mqttPort = await freePort();
  const options = { mqttPort, environment: { ...environment, ...more } };
  const service = await startBenchService(path, options);
  services.use(service);
  return { ...service, mqttPort };
}

type Process = Awaited<ReturnType<typeof startProcess>>;

let one = await startProcess();
const other = await startProcess();
const client = await openBenchClient(one.url, benchLogin);
await client.createPopulation();
const { token } = client;
const login = { username: benchLogin.username, password: token };
const startAt = Date.now() - twelveHoursMs;
const publishTraffic = createPublishTraffic(startAt + twelveHoursMs / 2);

const rows: (readonly string[])[] = [['two processes', 'p50 or a second', 'p99 or ratio']];
await deliverBetween();
rows.push(['value from one to the other, QoS 1', ...(await delaysBetween())]);
await besideSlowLink();
await killOne();
await restartPostgres();
process.stdout.write(`${table(rows)}\n`);

function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function open(to: Process, name: string, howMany: number) {
  return openMqttConnections({
    port: to.mqttPort,
    count: howMany,
    parallel: howMany,
    login: (index) => ({ clientId: `${name}-${index}`, ...login }),
    onFailure: (error) => {
      throw error;
    },
  });
}

/** Publishers at one process, subscribers of everything at the other. */
async function deliverBetween(): Promise<void> {
  const publishers = await open(one, 'publisher', 20);
  const hearing = await open(other, 'subscriber', subscribers);
  for (const connection of hearing) await connection.subscribe('devices/#', 0);
  const slices: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const slice = { publishers, subscribers: hearing, traffic: publishTraffic, window: 20 };
    slices.push((await runMqttSlice({ ...slice, durationMs: sliceMs, signal })).perSecond);
  }
  for (const connection of [...publishers, ...hearing]) connection.close();
  rows.push([`deliveries to ${subscribers} at the other`, count(median(slices.slice(1))), '']);
}

/** A push over HTTP; whether it was acknowledged. */
async function push(to: Process, sensor = topic): Promise<boolean> {
  const path = `${to.url}/api/v2/${sensor}`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ value: -1 });
  try {
    const late = AbortSignal.timeout(20_000);
    const response = await fetch(path, { method: 'POST', headers, body, signal: late });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** A client that publishes numbers with QoS 1; each answers when it was acknowledged. */
async function openPublisher(at: Process, clientId: string) {
  const waiting = new Map<number, () => void>();
  const peer = await connectPeer({
    ...{ url: at.url, clientId, version: 5, username: 'x', password: token },
    onPacket(packet) {
      if (packet.cmd === 'puback') waiting.get(packet.messageId ?? 0)?.();
    },
  });
  return {
    end: peer.end,
    publish(value: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(value, resolve);
      const payload = JSON.stringify({ value });
      const flags = { qos: 1, retain: false, dup: false } as const;
      peer.send({ cmd: 'publish', topic, payload, messageId: value, ...flags });
      return promise;
    },
  };
}

/** A client with a kept session that hears the sensor with QoS 1, and tells the numbers it gets. */
async function hear(at: Process, clientId: string, onValue: (value: number) => void) {
  const peer = await connectPeer({
    ...{ url: at.url, clientId, version: 5, username: 'x', password: token },
    onPacket(packet) {
      if (packet.cmd !== 'publish') return;
      if (packet.messageId !== undefined) {
        peer.send({ cmd: 'puback', messageId: packet.messageId });
      }
      const read: unknown = JSON.parse(packet.payload.toString());
      if (typeof read === 'object' && read !== null && 'value' in read) onValue(Number(read.value));
    },
  });
  const subscriptions = [{ topic, qos: 1 as const, rh: 2 as const }];
  if (!peer.isSessionPresent) peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  await wait(300);
  return peer;
}

/** From the start of a publish at one process to its arrival at a subscriber of the other. */
async function delaysBetween(): Promise<readonly string[]> {
  const sentAt = new Map<number, number>();
  const delays: number[] = [];
  const peer = await hear(other, 'delays', (value) => {
    const at = sentAt.get(value);
    if (at !== undefined) delays.push(performance.now() - at);
  });
  const publisher = await openPublisher(one, 'delays from');
  const under: Promise<void>[] = [];
  for (let value = 1; value <= delayed; value += 1) {
    sentAt.set(value, performance.now());
    under.push(publisher.publish(value));
    await wait(1_000 / perSecond);
  }
  await Promise.all(under);
  const until = performance.now() + 10_000;
  while (delays.length < delayed && performance.now() < until) await wait(20);
  if (delays.length < delayed) throw new Error(`only ${delays.length} values came`);
  await Promise.all([peer.end(), publisher.end()]);
  return [inMs(quantile(delays, 0.5)), inMs(quantile(delays, 0.99))];
}

/** Pushes to a process, one after the other, until told; answers the longest wait for a 204. */
function keepPushing(to: Process): () => Promise<number> {
  let isOver = false;
  let longest = 0;
  const pushing = (async () => {
    let doneAt = performance.now();
    while (!isOver) {
      if (!(await push(to))) {
        await wait(10);
        continue;
      }
      longest = Math.max(longest, performance.now() - doneAt);
      doneAt = performance.now();
    }
    longest = Math.max(longest, performance.now() - doneAt);
  })();
  return async () => {
    isOver = true;
    await pushing;
    return longest;
  };
}

/** Pushes at one process while another one, pushed to as well, is far from the database. */
async function besideSlowLink(): Promise<void> {
  const link = await openProxy(Number(new URL(server.url).port));
  const url = new URL(environment.KIPIMO_DATABASE_URL);
  url.port = `${link.port}`;
  const far = await startProcess({ KIPIMO_DATABASE_URL: url.href });
  for (const ms of [0, slowLinkMs]) {
    link.delay(ms);
    const over = AbortSignal.timeout(15_000);
    const waits: number[] = [];
    const pushAll = async (to: Process) => {
      while (!over.aborted) {
        const startedAt = performance.now();
        if (!(await push(to, to === far ? topicOfFar : topic)))
          throw new Error('a push was refused');
        if (to === other) waits.push(performance.now() - startedAt);
        await wait(10);
      }
    };
    await Promise.all([other, other, other, other, far, far].map(pushAll));
    const what = `pushes at one, beside one whose link takes ${ms} ms more each way`;
    rows.push([what, inMs(quantile(waits, 0.5)), inMs(quantile(waits, 0.99))]);
  }
  link.delay(0);
  process.kill(far.pid, 'SIGTERM');
  await wait(1_000);
  await link.close();
}

/** One process is killed: the other's pushes, and a kept session that was on the killed one. */
async function killOne(): Promise<void> {
  const [waits, queues]: [number[], number[]] = [[], []];
  for (let kill = 0; kill < Number(values.kills); kill += 1) {
    const gone = await hear(one, `kept ${kill}`, () => undefined);
    const publisher = await openPublisher(other, `publisher ${kill}`);
    const tell = keepPushing(other);
    await wait(500);
    process.kill(one.pid, 'SIGKILL');
    await gone.closed;
    const killedAt = performance.now();
    for (let value = 1; value <= queued; value += 1) await publisher.publish(value);
    const { promise, resolve } = Promise.withResolvers<void>();
    const got = new Set<number>();
    const peer = await comeBack(`kept ${kill}`, (value) => {
      got.add(value);
      if (got.has(queued)) resolve();
    });
    await promise;
    queues.push(performance.now() - killedAt);
    if ([...got].filter((value) => value > 0).length < queued) throw new Error('a value was lost');
    await publisher.end();
    await wait(3_000);
    waits.push(await tell());
    await peer.end();
    one = await startProcess();
  }
  rows.push(
    ['a process killed: pushes at the other wait, at most', inMs(Math.max(...waits)), ''],
    ['its kept session has its queue at the other, at most', inMs(Math.max(...queues)), ''],
  );
}

async function comeBack(clientId: string, onValue: (value: number) => void) {
  const until = performance.now() + 20_000;
  for (;;) {
    try {
      const peer = await hear(other, clientId, onValue);
      if (!peer.isSessionPresent) throw new Error('the session was lost');
      return peer;
    } catch (error) {
      if (performance.now() > until) throw error;
      await wait(50);
    }
  }
}

/** PostgreSQL is stopped and started again at once. */
async function restartPostgres(): Promise<void> {
  const waits: number[] = [];
  const stops: number[] = [];
  for (let stop = 0; stop < Number(values.kills); stop += 1) {
    const tell = keepPushing(other);
    await wait(500);
    const stoppedAt = performance.now();
    await server.stop('SIGINT');
    await server.start();
    stops.push(performance.now() - stoppedAt);
    await wait(4_000);
    waits.push(await tell());
  }
  const own = `${inMs(median(stops))} of it PostgreSQL's own`;
  rows.push(['PostgreSQL restarted: pushes wait, at most', inMs(Math.max(...waits)), own]);
}
