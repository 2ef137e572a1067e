// Where the time of a publish with QoS 1 goes, and the memory of an idle connection:
// node bench/mqtt-parts.ts [--connections 5000] [--seconds 10]
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { openMqttConnections } from '../tools/bench/mqtt-connection.ts';
import { runMqttSlice } from '../tools/bench/mqtt-slices.ts';
import { createPublishTraffic } from '../tools/bench/mqtt-traffic.ts';
import { openBenchClient } from '../tools/bench/population.ts';
import { profileDuring } from '../tools/bench/profile-stage.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';
import type { HeapParts } from './heap-parts.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '10' },
  },
});
const kindsShown = 24;
const perAddress = 1_000;
const { signal } = new AbortController();
const onFailure = (error: Error) => {
  throw error;
};

/** A fresh service with the devices of the benchmark. */
async function open(directory: string, more: Partial<Parameters<typeof startBenchService>[1]>) {
  const mqttPort = await freePort();
  const service = await startBenchService(directory, { mqttPort, ...more });
  const client = await openBenchClient(service.url, benchLogin);
  await client.createPopulation();
  const login = { username: benchLogin.username, password: client.token };
  const connect = (count: number) =>
    openMqttConnections({
      ...{ port: mqttPort, count, parallel: 200, onFailure },
      login: (index) => ({ clientId: `parts-${index}`, ...login }),
      addressOf: (index) => `127.0.0.${2 + Math.floor(index / perAddress)}`,
    });
  return { service, connect };
}

/** Milliseconds of the processors by thread: for the program, and in the system. */
function threadTimes(pid: number): ReadonlyMap<string, readonly [user: number, system: number]> {
  const threads = new Map<string, readonly [number, number]>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    const name = thread === `${pid}` ? 'main' : /\((.*)\)/.exec(stat)?.[1];
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const before = threads.get(name ?? '') ?? [0, 0];
    const [user, system] = [Number(fields[11]) * 10, Number(fields[12]) * 10];
    threads.set(name ?? '', [before[0] + user, before[1] + system]);
  }
  return threads;
}

async function profilePublishes(): Promise<void> {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'publishes.cpuprofile');
  const { service, connect } = await open(directory.path, { profileFile: file });
  await using running = service;
  const publishers = await connect(20);
  const traffic = createPublishTraffic(Date.now() - 12 * 3_600_000);
  const load = (durationMs: number) =>
    runMqttSlice({ publishers, subscribers: [], traffic, window: 20, durationMs, signal });
  await load(3_000);
  const seconds = Number(values.seconds);
  const before = threadTimes(running.pid);
  const startedAt = performance.now();
  const { perSecond } = await load(seconds * 1_000);
  const count = (perSecond * (performance.now() - startedAt)) / 1_000;
  const rows = [...threadTimes(running.pid)].map(([name, [user, system]]) => {
    const [userBefore, systemBefore] = before.get(name) ?? [0, 0];
    const each = (ms: number) => ((ms * 1_000) / count).toFixed(2);
    return [name, each(user - userBefore), each(system - systemBefore)];
  });
  process.stdout.write(`QoS 1: ${Math.round(perSecond)} a second\n`);
  process.stdout.write(`${table([['thread, µs of a publish', 'program', 'system'], ...rows])}\n\n`);
  const profile = { pid: running.pid, file };
  const lines = await profileDuring(profile, () => load(seconds * 1_000));
  for (const connection of publishers) connection.close();
  const shown = lines.map(({ part, name, place }) => [`${(100 * part).toFixed(1)} %`, name, place]);
  process.stdout.write(`${table([['main thread', '', ''], ...shown])}\n\n`);
}

async function measureConnections(): Promise<void> {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'heap.json');
  const preload = pathToFileURL(resolve(import.meta.dirname, 'heap-parts.ts')).href;
  const { service, connect } = await open(directory.path, {
    environment: { NODE_OPTIONS: `--import=${preload}`, HEAP_PARTS_FILE: file },
  });
  await using running = service;
  async function parts(): Promise<HeapParts> {
    rmSync(file, { force: true });
    process.kill(running.pid, 'SIGUSR2');
    for (;;) {
      await wait(200);
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as HeapParts;
      } catch {
        // It is not written yet.
      }
    }
  }
  // The first snapshot leaves memory behind that the later ones use.
  await parts();
  const before = await parts();
  const count = Number(values.connections);
  const opened = await connect(count);
  await wait(2_000);
  const after = await parts();
  for (const connection of opened) connection.close();
  const memory = (['rss', 'heapUsed', 'external', 'arrayBuffers'] as const).map((name) => [
    name,
    `${((after.memory[name] - before.memory[name]) / count).toFixed(0)}`,
  ]);
  process.stdout.write(`${table([['bytes of an idle connection', ''], ...memory])}\n\n`);
  const kinds = Object.entries(after.kinds)
    .map(([kind, [number, bytes]]) => {
      const [numberBefore, bytesBefore] = before.kinds[kind] ?? [0, 0];
      return { kind, number: number - numberBefore, bytes: bytes - bytesBefore };
    })
    .toSorted((one, other) => other.bytes - one.bytes);
  const sum = kinds.reduce((all, { bytes }) => all + bytes, 0);
  const rows = kinds
    .slice(0, kindsShown)
    .map(({ kind, number, bytes }) => [
      ...[kind, (number / count).toFixed(2), (bytes / count).toFixed(0)],
    ]);
  const head = ['objects of a connection', 'number', `bytes, of ${(sum / count).toFixed(0)}`];
  process.stdout.write(`${table([head, ...rows])}\n`);
}

await profilePublishes();
await measureConnections();
