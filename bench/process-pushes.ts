import pg from 'pg';
import { type OwnPostgres, schemaUrl } from '../test/postgres-server.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { intervalOfMedian, median, withConnections } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { createWatchedTraffic, populateWatched, type WatchedKind } from './watched-devices.ts';

/** Which processes get the pushes: one alone, some of several, each with its part. */
const spreads = [
  { meaning: 'one process', processes: 1, pushedTo: 1 },
  { meaning: 'all to one of two', processes: 2, pushedTo: 1 },
  { meaning: 'half to each of two', processes: 2, pushedTo: 2 },
  { meaning: 'a third to each of three', processes: 3, pushedTo: 3 },
] as const;
const allKinds = ['plain', 'calm', 'kept', 'corrected'] as const satisfies readonly WatchedKind[];
const meanings = {
  ...{ plain: '', calm: ', a rule that never fires', kept: ', a rule that remembers' },
  corrected: ', corrections instead',
};

interface TableOptions {
  readonly server: OwnPostgres;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly connections: number;
  /** Whether each process has so many, and not all of them together. */
  readonly isEach: boolean;
  /** The launcher of another version, which is measured beside ours in the same slices. */
  readonly program: string | undefined;
  /** The coordinator of Citus, on which ours is measured beside in the same slices. */
  readonly citusUrl: string | undefined;
  /** Microseconds that each commit takes longer, one table after the other. */
  readonly delays: readonly number[];
  /** How many processes there are, and what watches their sensors. */
  readonly counts: readonly number[];
  readonly kinds: readonly string[];
  /** Whether what PostgreSQL counts of their statements is told in rows behind the others. */
  readonly countsStatements: boolean;
}

/**
 * Pushes a second of one, two and three processes, each number on a database of its own, with no
 * rule and with rules, in slices that take turns; then again where commits take longer.
 */
export async function tableOfPushes(options: TableOptions): Promise<readonly string[][]> {
  const { server, connections, isEach, sliceMs, delays, counts } = options;
  const kinds = allKinds.filter((kind) => options.kinds.includes(kind));
  using directories = new DisposableStack();
  await using services = new AsyncDisposableStack();

  async function startOn(processes: number, { label, url: database, own }: Variant) {
    const schema = `pushes_${processes}${own === undefined ? '' : '_before'}`;
    const environment = {
      KIPIMO_DATABASE_URL: await schemaUrl(database, schema),
      KIPIMO_PROCESSES: 'several',
    };
    const ports: number[] = [];
    let url = '';
    for (let at = 0; at < processes; at += 1) {
      const { path } = directories.use(temporaryDirectory());
      const given = { mqttPort: await freePort(), environment, ...(own && { program: own }) };
      const service = services.use(await startBenchService(path, given));
      ports.push(service.port);
      url = service.url;
    }
    const token = await populateWatched(url, benchLogin, kinds);
    return { processes, label, ports, token };
  }

  const started: Awaited<ReturnType<typeof startOn>>[] = [];
  for (const variant of variantsOf(options)) {
    for (const processes of counts) started.push(await startOn(processes, variant));
  }
  const loads = kinds.flatMap((kind) =>
    spreads.flatMap(({ meaning, processes, pushedTo }) =>
      started
        .filter((one) => one.processes === processes)
        .map(({ ports, token, label }) => ({
          name: `${meaning}${meanings[kind]}${label}`,
          ports: ports.slice(0, pushedTo),
          traffic: createWatchedTraffic(token, kind, { first: 0, step: 1 }),
          slices: [] as number[],
        })),
    ),
  );

  async function slice({ ports, traffic }: (typeof loads)[number]): Promise<number> {
    const count = isEach ? connections : Math.ceil(connections / ports.length);
    const { signal } = new AbortController();
    const parts = await Promise.all(
      ports.map((port) => withConnections({ port, count, signal }, (run) => run(traffic, sliceMs))),
    );
    return parts.reduce((sum, { perSecond }) => sum + perSecond, 0);
  }

  /** By delay, by load: pushes a second of each round. */
  const columns: number[][][] = [];
  for (const delay of delays) {
    await delayCommits(server.url, delay);
    for (const { slices } of loads) slices.length = 0;
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const load of loads) {
        const perSecond = await slice(load);
        // Code is compiled in the first.
        if (round > 0) load.slices.push(perSecond);
      }
    }
    columns.push(loads.map(({ slices }) => [...slices]));
  }
  const cells = (at: number) =>
    columns.flatMap((column) => {
      const [first = [], own = []] = [column[0], column[at]];
      const ratios = own.map((perSecond, round) => perSecond / (first[round] ?? Number.NaN));
      const [low, high] = intervalOfMedian(ratios);
      return [
        `${Math.round(median(own)).toLocaleString('en')}/s`,
        median(ratios).toFixed(2),
        `${low.toFixed(2)} to ${high.toFixed(2)}`,
      ];
    });
  const heads = delays.flatMap((delay) => [
    `commits + ${delay / 1_000} ms`,
    ...['of the first', '95 % interval'],
  ]);
  const counted: string[][] = [];
  if (options.countsStatements) {
    await delayCommits(server.url, 0);
    for (const load of loads) {
      counted.push(...(await countStatements(server.url, load.name, () => slice(load))));
    }
  }
  return [
    [`pushes, ${connections} connections ${isEach ? 'to each' : 'in all'}`, ...heads],
    ...loads.map(({ name }, at) => [name, ...cells(at)]),
    ...counted,
  ];
}

const statementsTold = 8;
const lettersOfStatement = 60;

/** What PostgreSQL counts while pushes are made: those statements first that take longest. */
async function countStatements(
  url: string,
  name: string,
  slice: () => Promise<number>,
): Promise<readonly string[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements schema public');
  await client.query('select public.pg_stat_statements_reset()');
  const startedAt = performance.now();
  const perSecond = await slice();
  const seconds = (performance.now() - startedAt) / 1_000;
  const { rows } = await client.query(`
    select query, calls::float8, rows::float8, total_exec_time as ms, wal_bytes::float8 as wal
    from public.pg_stat_statements where query not like '%pg_stat_statements%'
    order by total_exec_time desc limit ${statementsTold}`);
  await client.end();
  return [
    [`${name}: ${Math.round(perSecond)} pushes/s`, 'calls/s', 'rows/s', 'ms/s', 'WAL kB/s'],
    ...rows.map(({ query, calls, rows: changed, ms, wal }) => [
      String(query).replaceAll(/\s+/g, ' ').trim().slice(0, lettersOfStatement),
      ...[calls, changed, ms, wal / 1_000].map((sum: number) => (sum / seconds).toFixed(0)),
    ]),
  ];
}

/** What is measured in the same slices. */
interface Variant {
  readonly label: string;
  readonly url: string;
  readonly own?: string;
}

const variantsOf = ({ server, program, citusUrl }: TableOptions): readonly Variant[] => [
  { label: '', url: server.url },
  ...(program === undefined ? [] : [{ label: ' (before)', url: server.url, own: program }]),
  ...(citusUrl === undefined ? [] : [{ label: ' (Citus)', url: citusUrl }]),
];

/** As a standby that must have every commit does. */
async function delayCommits(url: string, microseconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`alter system set commit_delay = ${microseconds}`);
  await client.query('alter system set commit_siblings = 0');
  await client.query('select pg_reload_conf()');
  await client.end();
}
