// A service under a steady mixed load, and where its memory is, by the minute:
// node scripts/soak.ts [--minutes 60] [--load mixed|board] [--speed 1]
// or, against a service that runs already: --url URL --mqtt-port N, with KIPIMO_SOAK_PASSWORD.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { type SoakLoad, type SoakService, soakLoads, startSoakLoad } from './soak-load.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    load: { type: 'string', default: 'mixed' },
    speed: { type: 'string', default: '1' },
    url: { type: 'string' },
    'mqtt-port': { type: 'string' },
    username: { type: 'string', default: benchLogin.username },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const minuteMs = 60_000;

/** The columns: parts of kipimo_memory_bytes, in MB. */
const parts = [
  ['young', 'main_young'],
  ['old', 'main_old'],
  ['heap', 'main_heap'],
  ['external', 'main_external'],
  ['buffers', 'main_array_buffers'],
  ['writer', 'storage_thread_heap'],
  ['its ext.', 'storage_thread_external'],
  ['native', 'native'],
  ['files', 'mapped_files'],
] as const;

async function readMetrics({ client }: SoakLoad): Promise<(name: string) => number> {
  const { text } = await client.call('GET', '/metrics');
  const found = new Map(
    text.split('\n').map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
  return (name) => found.get(name) ?? Number.NaN;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1).padStart(9);

function rowOf(minute: number, metric: (name: string) => number, cpuSeconds: number): string {
  const columns = parts.map(([, part]) => megabytes(metric(`kipimo_memory_bytes{part="${part}"}`)));
  const resident = megabytes(metric('process_resident_memory_bytes'));
  const cpu = `${((cpuSeconds / 60) * 100).toFixed(0)} %`.padStart(7);
  return `${String(minute).padStart(6)}${resident}${columns.join('')}${cpu}`;
}

async function watch(load: SoakLoad, minutes: number): Promise<void> {
  const head = ['resident', ...parts.map(([title]) => title)].map((title) => title.padStart(9));
  print(`memory in MB\nminute${head.join('')}    cpu`);
  const startedAt = performance.now();
  let cpuBefore = (await readMetrics(load))('process_cpu_seconds_total');
  for (let minute = 1; minute <= minutes; minute += 1) {
    await delay(startedAt + minute * minuteMs - performance.now());
    const metric = await readMetrics(load);
    const cpu = metric('process_cpu_seconds_total');
    print(rowOf(minute, metric, cpu - cpuBefore));
    cpuBefore = cpu;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const [kind, { done, failed, leftOut, reason }] of load.counts) {
    const told = reason === undefined ? '' : ` (${reason})`;
    print(
      `${kind}: ${(done / seconds).toFixed(1)} a second, ${failed} failed${told}, ` +
        `${leftOut} left out`,
    );
  }
}

async function soak(service: SoakService): Promise<boolean> {
  const rates = soakLoads.get(values.load);
  if (rates === undefined) throw new Error(`there is no load ${values.load}`);
  const scaled = Object.fromEntries(
    Object.entries(rates).map(([kind, rate]) => [kind, rate * Number(values.speed)]),
  );
  const load = await startSoakLoad(service, { ...rates, ...scaled });
  await watch(load, Number(values.minutes));
  load.stop();
  return [...load.counts.values()].every(({ failed }) => failed === 0);
}

async function soakOwnService(): Promise<boolean> {
  using directory = temporaryDirectory();
  const mqttPort = await freePort();
  await using service = await startBenchService(directory.path, { mqttPort });
  return await soak({ url: service.url, mqttPort, ...benchLogin });
}

const { url, username } = values;
const isFine =
  url === undefined
    ? await soakOwnService()
    : await soak({
        ...{ url, username, mqttPort: Number(values['mqtt-port']) },
        password: process.env['KIPIMO_SOAK_PASSWORD'] ?? benchLogin.password,
      });
process.exit(isFine ? 0 : 1);
