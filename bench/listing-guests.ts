// How many pushes are left beside guests who list devices as fast as they can, where many are:
// node bench/listing-guests.ts [--devices 100000] [--rounds 8] [--seconds 2]
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { silentReporter } from '../src/domain/reporter.ts';
import { silentLog } from '../src/lib/log.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import type { SliceFigures, Traffic } from '../tools/bench/load-slice.ts';
import { openBenchClient } from '../tools/bench/population.ts';
import { median, withConnections } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { createPushTraffic } from '../tools/bench/traffic.ts';
import { table } from '../tools/table.ts';
import { fillInstallation } from './growth-installation.ts';
import { createHolds } from './metered-service.ts';

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
  },
});
const sliceMs = Number(values.seconds) * 1_000;
const pushers = 16;
const calmMs = 25;
const guestsBeside = [0, 1, 4] as const;

using directory = temporaryDirectory();
const data = join(directory.path, 'data');
mkdirSync(data);
const storage = await openStorage({
  ...{ kind: 'sqlite', directory: data, log: silentLog, reporter: silentReporter },
});
await fillInstallation(storage, Number(values.devices), 3);
await storage.close();

const meterFile = join(directory.path, 'holds.json');
const meter = pathToFileURL(resolve(import.meta.dirname, 'loop-meter.ts')).href;
await using service = await startBenchService(directory.path, {
  mqttPort: 0,
  environment: { NODE_OPTIONS: `--import=${meter}`, LOOP_METER_FILE: meterFile },
});
const client = await openBenchClient(service.url, benchLogin);
await client.createPopulation();

const holds = createHolds(service.pid, meterFile);

/** The service's own metric: the longest hold of its event loop, in ms. */
async function heldMs(): Promise<number> {
  const headers = { authorization: `Bearer ${client.token}` };
  const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
  const [, seconds] = /^kipimo_event_loop_held_seconds\{percentile="100"\} (\S+)/m.exec(text) ?? [];
  return Number(seconds) * 1_000;
}

const pushes = createPushTraffic({ token: client.token, startAt: Date.now() - 12 * 3_600_000 });
const lists: Traffic = {
  expectedStatus: 200,
  next: () => 0,
  requestOf: () => 'GET /api/v2/devices?limit=20 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  acknowledge: () => undefined,
};

const { port } = service;
const { signal } = new AbortController();
/** A slice of some requests over connections of their own. */
const load = (count: number, traffic: Traffic): Promise<SliceFigures> =>
  withConnections({ port, count, signal }, (run) => run(traffic, sliceMs));

async function slice(guests: number) {
  await holds();
  const [pushed, guestsRead] = await Promise.all([
    load(pushers, pushes),
    guests > 0 ? load(guests, lists) : undefined,
  ]);
  const { workedMax: worked, ownMax: own, longest } = await holds();
  const listed = guestsRead?.perSecond ?? 0;
  return { pushed, lists: listed, worked, own, longest, metric: await heldMs() };
}

// The metric is of half a minute or of two: the start goes out of it first.
for (let waits = 0; waits < 14 && (await heldMs()) > calmMs; waits += 1) {
  await holds();
  await wait(5_000);
}

type Slice = Awaited<ReturnType<typeof slice>>;
const slices = new Map(guestsBeside.map((guests): [number, Slice[]] => [guests, []]));
for (let round = 0; round <= Number(values.rounds); round += 1) {
  // Whoever comes first changes; the first round is thrown away.
  for (const turn of guestsBeside.keys()) {
    const guests = guestsBeside[(turn + round) % guestsBeside.length] ?? 0;
    const made = await slice(guests);
    if (round > 0) slices.get(guests)?.push(made);
  }
}
const rateOf = (guests: number): number =>
  median((slices.get(guests) ?? []).map(({ pushed }) => pushed.perSecond));
const rows = [...slices].map(([guests, all]) => {
  const middle = (one: (slice: Slice) => number) => median(all.map(one)).toFixed(1);
  const most = (key: 'worked' | 'own' | 'metric') =>
    Math.max(...all.map((one) => one[key])).toFixed(1);
  return [
    `${guests}`,
    ...[`${Math.round(rateOf(guests))}/s`, (rateOf(guests) / rateOf(0)).toFixed(2)],
    ...[middle(({ pushed }) => pushed.p50Ms), middle(({ pushed }) => pushed.p99Ms)],
    ...[middle((one) => one.lists), most('worked'), most('own'), most('metric')],
  ];
});
const head = [
  ...['guests', 'pushes', 'of alone', 'p50 ms', 'p99 ms', 'lists/s'],
  ...['longest work ms', 'without collections', 'metric ms'],
];
process.stdout.write(`${table([head, ...rows])}\n`);

// What passed is no work of the main thread where it waited for a processor, or for the threads
// that collect garbage beside it.
const pieces = [...slices]
  .flatMap(([guests, all]) =>
    all.flatMap(({ longest }) => longest.map((one) => ({ guests, ...one }))),
  )
  .sort((a, b) => b.took - a.took)
  .slice(0, 12)
  .map(({ guests, ...one }) => [
    `${guests}`,
    ...[one.took, one.worked, one.waited, one.collected].map((ms) => ms.toFixed(1)),
  ]);
const parts = 'guests,longest pieces ms,worked,waited for a processor,collections'.split(',');
process.stdout.write(`\n${table([parts, ...pieces])}\n`);
