import { formatTimestamp } from '../src/lib/timestamp.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import type { Traffic } from '../tools/bench/load-slice.ts';
import { type Broker, mqttLoads, mqttPairsOf } from '../tools/bench/mqtt-bench.ts';
import { createPublishTraffic } from '../tools/bench/mqtt-traffic.ts';
import { openBenchClient } from '../tools/bench/population.ts';
import {
  type Figures,
  intervalOfMedian,
  median,
  type Pace,
  type Pair,
  pairsOf,
  type Side,
} from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import {
  createPushTraffic,
  createReadTraffic,
  deviceIds,
  sensorIds,
} from '../tools/bench/traffic.ts';

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

const minuteMs = 60_000;
const pointsPerPush = 10_000;

/** Stores a year of minutes of one sensor, and answers the path that sums it up by day. */
export async function fillYear(url: string, token: string, startAt: number): Promise<string> {
  const send = async (path: string, body: string): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v2${path}`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  await send('/devices', JSON.stringify({ id: 'year', sensors: [{ id: 'S' }] }));
  const path = '/devices/year/sensors/S/values';
  const from = Math.floor(startAt / minuteMs) * minuteMs - yearMs;
  for (let at = from; at < from + yearMs; at += pointsPerPush * minuteMs) {
    const length = Math.min(pointsPerPush, (from + yearMs - at) / minuteMs);
    const points = Array.from({ length }, (_, place) => {
      const time = at + place * minuteMs;
      return { value: 20 + ((time / minuteMs) % 97) / 10, timestamp: formatTimestamp(time) };
    });
    await send(path, JSON.stringify(points));
  }
  const range = `dateFrom=${formatTimestamp(from)}&dateTo=${formatTimestamp(from + yearMs)}`;
  return `/api/v2${path}?aggregate=avg,min,max&interval=1d&limit=400&${range}`;
}

/** A fresh service in a process of its own, with the devices of the benchmark. */
export async function openContestant(given: {
  /** The launcher of another version; absent: our own. */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
}) {
  const directory = temporaryDirectory();
  const mqttPort = await freePort();
  const service = await startBenchService(directory.path, { mqttPort, ...given });
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
    /** The year is stored when it is asked for. */
    async year(): Promise<Side> {
      const path = await fillYear(service.url, token, startAt);
      return { port: service.port, traffic: createReadTraffic({ paths: [path], token }) };
    },
    broker,
    ...{ url: service.url, pid: service.pid, token, startAt },
    idleBytes,
    residentBytes: client.residentBytes,
    readyMs: service.readyMs,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

type Contestant = Awaited<ReturnType<typeof openContestant>>;

function rowOf(what: string, pairs: readonly Pair<Figures>[]): readonly string[] {
  const ratios = pairs.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond);
  const [low, high] = intervalOfMedian(ratios);
  const perSecond = (side: 'ours' | 'theirs') =>
    `${Math.round(median(pairs.map((pair) => pair[side].perSecond))).toLocaleString('en')}/s`;
  return [
    what,
    perSecond('ours'),
    perSecond('theirs'),
    median(ratios).toFixed(3),
    `${low.toFixed(3)} to ${high.toFixed(3)}, ${ratios.length} pairs`,
  ];
}

/** Bytes as megabytes, for a table. */
export const inMegabytes = (count: number | undefined): string =>
  `${Math.round((count ?? 0) / 1e6)} MB`;

/**
 * Measures two services in alternating slices, and answers a row of a table for each load whose
 * name begins with `only`.
 */
export async function contest(
  ours: Contestant,
  theirs: Contestant,
  { pace, only }: { readonly pace: Pace; readonly only: string },
): Promise<readonly (readonly string[])[]> {
  const { signal } = new AbortController();
  const overHttp = (ourSide: Side, theirSide: Side, connections: number) => () =>
    pairsOf({ ours: ourSide, noOp: theirSide, connections, pace, signal });
  const loads: readonly (readonly [string, () => Promise<readonly Pair<Figures>[]>])[] = [
    ['push, durable, 64 connections', overHttp(ours.push, theirs.push, 64)],
    ['push, durable, 256 connections', overHttp(ours.push, theirs.push, 256)],
    ['read a device, 64 connections', overHttp(ours.read, theirs.read, 64)],
    [
      'publish, QoS 1',
      () =>
        mqttPairsOf(
          { pace, signal },
          mqttLoads.publish,
          ours.broker('ours'),
          theirs.broker('theirs'),
        ),
    ],
    ['bulk, requests of 1 000 datapoints', overHttp(ours.bulk, theirs.bulk, 4)],
    ['a year of minutes by day', async () => overHttp(await ours.year(), await theirs.year(), 4)()],
  ];
  const rows: (readonly string[])[] = [];
  for (const [what, pairs] of loads) {
    if (what.startsWith(only)) rows.push(rowOf(what, await pairs()));
  }
  const memory = [inMegabytes(ours.idleBytes), inMegabytes(theirs.idleBytes)];
  const start = [`${Math.round(ours.readyMs)} ms`, `${Math.round(theirs.readyMs)} ms`];
  rows.push(['idle memory', ...memory, '', ''], ['start', ...start, '', '']);
  return rows;
}
