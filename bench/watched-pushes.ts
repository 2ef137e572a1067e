// What rules cost the pushes of two processes on one PostgreSQL that syncs each commit:
// node bench/watched-pushes.ts [--rounds 5] [--seconds 2] [--connections 64, at each process]
// [--only plain,calm,kept,several]
import { parseArgs } from 'node:util';
import { schemaUrl, startPostgres } from '../test/postgres-server.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import type { SliceFigures, Traffic } from '../tools/bench/load-slice.ts';
import { median, withConnections } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';
import { createWatchedTraffic, populateWatched } from './watched-devices.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string', default: 'plain,calm,kept,several' },
  },
});
const sliceMs = Number(values.seconds) * 1_000;

/** A rule on each device of a kind; none: nothing looks at it. */
const allKinds = [
  { name: 'plain', meaning: 'no rule' },
  { name: 'calm', meaning: 'a rule that never fires' },
  { name: 'kept', meaning: 'a rule that remembers' },
  { name: 'several', meaning: 'a rule over two sensors' },
] as const;
const kinds = allKinds.filter(({ name }) => values.only.split(',').includes(name));
const places = [
  { meaning: 'each process its own devices', isShared: false },
  { meaning: 'both the same devices', isShared: true },
] as const;

/** Both processes under load at the same time; together. */
async function slice(ports: readonly number[], traffics: readonly Traffic[]) {
  const { signal } = new AbortController();
  const count = Number(values.connections);
  const figures: SliceFigures[] = [];
  const run = (port: number, traffic: Traffic) =>
    withConnections({ port, count, signal }, async (load) => {
      figures.push(await load(traffic, sliceMs));
    });
  await Promise.all(ports.map((port, at) => run(port, traffics[at] as Traffic)));
  const refused = figures.find((one) => one.refused > 0);
  if (refused !== undefined) throw new Error(`refused: ${refused.refusal}`);
  return {
    perSecond: figures.reduce((sum, one) => sum + one.perSecond, 0),
    p50Ms: Math.max(...figures.map((one) => one.p50Ms)),
    p99Ms: Math.max(...figures.map((one) => one.p99Ms)),
  };
}

const server = await startPostgres({ isDurable: true });
try {
  const environment = {
    KIPIMO_DATABASE_URL: await schemaUrl(server.url, 'watched'),
    KIPIMO_PROCESSES: 'several',
  };
  using directories = new DisposableStack();
  const start = async () =>
    startBenchService(directories.use(temporaryDirectory()).path, {
      mqttPort: await freePort(),
      environment,
    });
  await using one = await start();
  await using other = await start();
  const token = await populateWatched(
    ...([one.url, benchLogin, kinds.map(({ name }) => name)] as const),
  );
  const loads = places.flatMap((place) => kinds.map((kind) => ({ ...place, kind })));
  const all = loads.map((load) => ({ load, slices: [] as Awaited<ReturnType<typeof slice>>[] }));
  // Taking turns, so that the noise of others is everybody's.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const { load, slices } of all) {
      const traffics = [0, 1].map((at) =>
        createWatchedTraffic(token, load.kind.name, { first: at, step: load.isShared ? 1 : 2 }),
      );
      const made = await slice([one.port, other.port], traffics);
      if (round > 0) slices.push(made);
    }
  }
  const rows = all.map(({ load, slices }) => [
    `${load.kind.meaning}, ${load.meaning}`,
    `${Math.round(median(slices.map(({ perSecond }) => perSecond)))}/s`,
    `${median(slices.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms`,
    `${median(slices.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`,
  ]);
  process.stdout.write(`${table([['pushes of two processes', 'both', 'p50', 'p99'], ...rows])}\n`);
} finally {
  await server.close();
}
