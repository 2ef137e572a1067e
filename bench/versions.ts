import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchLogin, startBenchService } from '../src/cli/bench/bench-service.ts';
import { freePort } from '../src/cli/bench/free-port.ts';
import type { Traffic } from '../src/cli/bench/load-slice.ts';
import { type Broker, mqttLoads, mqttPairsOf } from '../src/cli/bench/mqtt-bench.ts';
import { createPublishTraffic } from '../src/cli/bench/mqtt-traffic.ts';
import { openBenchClient } from '../src/cli/bench/population.ts';
import { type Figures, median, type Pair, pairsOf, type Side } from '../src/cli/bench/rounds.ts';
import { table } from '../src/cli/bench/table.ts';
import { temporaryDirectory } from '../src/cli/bench/temporary-directory.ts';
import {
  createPushTraffic,
  createReadTraffic,
  deviceIds,
  sensorIds,
} from '../src/cli/bench/traffic.ts';
import { formatTimestamp } from '../src/lib/timestamp.ts';

// This checkout beside another one, both built, in alternating slices:
// node bench/versions.ts OTHER_CHECKOUT [--pairs 30] [--seconds 1] [--only bulk]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('name the other checkout');
// The first pair is thrown away.
const pace = { sliceMs: Number(values.seconds) * 1_000, rounds: Number(values.pairs) + 1 };
const { signal } = new AbortController();
const twelveHoursMs = 12 * 3_600_000;
const yearMs = 365 * 24 * 3_600_000;

/** Bulk requests of 1 000 lines: five new datapoints of each sensor, a second apart. */
function createBulkTraffic(token: string, startAt: number): Traffic {
  const sensors = deviceIds.flatMap((device) =>
    sensorIds.map((sensor) => `{"device_id":"${device}","sensor_id":"${sensor}","value":`),
  );
  const head = [
    'POST /api/v2/sensors_data HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/x-ndjson',
  ].join('\r\n');
  let sequences = 0;
  return {
    expectedStatus: 200,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf(sequence) {
      const lines: string[] = [];
      for (let step = 5 * sequence; step < 5 * (sequence + 1); step += 1) {
        const timestamp = formatTimestamp(startAt + step * 1_000);
        const rest = `${20 + (step % 97) / 10},"timestamp":"${timestamp}"}`;
        for (const sensor of sensors) lines.push(sensor + rest);
      }
      const body = `${lines.join('\n')}\n`;
      return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    },
    acknowledge: () => undefined,
  };
}

async function openVersion(checkout: string) {
  const directory = temporaryDirectory();
  const mqttPort = await freePort();
  const program = join(resolve(checkout), 'bin', 'kipimo.js');
  const service = await startBenchService(directory.path, { mqttPort, program });
  const client = await openBenchClient(service.url, benchLogin);
  await client.createPopulation();
  const idleBytes = await client.residentBytes();
  const startAt = Date.now() - twelveHoursMs;
  const { token } = client;
  const paths = deviceIds.map((id) => `/api/v2/devices/${id}`);
  const broker = (name: string): Broker => ({
    name,
    port: mqttPort,
    pid: service.pid,
    login: { username: benchLogin.username, password: token },
    traffic: createPublishTraffic(startAt + twelveHoursMs / 2),
  });
  return {
    push: { port: service.port, traffic: createPushTraffic({ token, startAt }) },
    read: { port: service.port, traffic: createReadTraffic({ paths, token }) },
    bulk: { port: service.port, traffic: createBulkTraffic(token, startAt - yearMs) },
    broker,
    idleBytes,
    readyMs: service.readyMs,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

const rows: string[][] = [['what', 'ours', 'theirs', 'ratio', '95 % interval of the median']];

/** The interval by ranks: it assumes nothing of how the ratios are spread. */
function addRow(what: string, pairs: readonly Pair<Figures>[]): void {
  const ratios = pairs
    .map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)
    .toSorted((left, right) => left - right);
  const reach = 0.98 * Math.sqrt(ratios.length);
  const low = ratios[Math.max(0, Math.floor(ratios.length / 2 - reach))] ?? Number.NaN;
  const high = ratios[Math.min(ratios.length - 1, Math.ceil(ratios.length / 2 + reach - 1))];
  const perSecond = (side: 'ours' | 'theirs') =>
    `${Math.round(median(pairs.map((pair) => pair[side].perSecond))).toLocaleString('en')}/s`;
  rows.push([
    what,
    perSecond('ours'),
    perSecond('theirs'),
    median(ratios).toFixed(3),
    `${low.toFixed(3)} to ${(high ?? Number.NaN).toFixed(3)}, ${ratios.length} pairs`,
  ]);
}

await using ours = await openVersion(join(import.meta.dirname, '..'));
await using theirs = await openVersion(other);

/** Measures what `--only` does not leave out. */
async function measure(what: string, pairs: () => Promise<readonly Pair<Figures>[]>) {
  if (what.startsWith(values.only)) addRow(what, await pairs());
}

const overHttp = (ourSide: Side, theirSide: Side, connections: number) => () =>
  pairsOf({ ours: ourSide, noOp: theirSide, connections, pace, signal });

await measure('push, durable, 64 connections', overHttp(ours.push, theirs.push, 64));
await measure('push, durable, 256 connections', overHttp(ours.push, theirs.push, 256));
await measure('read a device, 64 connections', overHttp(ours.read, theirs.read, 64));
const brokers = [ours.broker('ours'), theirs.broker('theirs')] as const;
await measure('publish, QoS 1', () => mqttPairsOf({ pace, signal }, mqttLoads.publish, ...brokers));
await measure('bulk, requests of 1 000 datapoints', overHttp(ours.bulk, theirs.bulk, 4));
const inMegabytes = (count: number | undefined) => `${Math.round((count ?? 0) / 1e6)} MB`;
rows.push(
  ['idle memory', inMegabytes(ours.idleBytes), inMegabytes(theirs.idleBytes), '', ''],
  ['start', `${Math.round(ours.readyMs)} ms`, `${Math.round(theirs.readyMs)} ms`, '', ''],
);
process.stdout.write(`${table(rows)}\n`);
