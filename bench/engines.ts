import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { onServer, schemaUrl, startPostgres } from '../test/postgres-server.ts';
import { historyLimits } from '../tools/bench/history-limits.ts';
import { pointsOf, queriedKind, seriesKinds } from '../tools/bench/history-series.ts';
import { createHistoryClient } from '../tools/bench/history-store.ts';
import { startKipimoHistory } from '../tools/bench/kipimo-history.ts';
import { median } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';
import { contest, inMegabytes, openContestant } from './contest.ts';

// One process on PostgreSQL beside one with the embedded engine, this checkout built, in
// alternating slices; then a year of minutes on PostgreSQL, what it takes and how it is read:
// node bench/engines.ts [--pairs 10] [--seconds 1] [--only push] [--days 365, 0: no history]

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    days: { type: 'string', default: '365' },
  },
});
const dayMs = 86_400_000;
/** Longer than a sensor rests before its last datapoints are moved to chunks. */
const restMs = 15_000;
const queryRounds = 20;

await using server = await startServer();
if (Number(values.pairs) > 0) await compareEngines();
if (Number(values.days) > 0) await keepHistory(Number(values.days));

async function startServer() {
  const started = await startPostgres({ isDurable: true });
  return { url: started.url, [Symbol.asyncDispose]: () => started.close() };
}

async function environmentOf(schema: string) {
  return { KIPIMO_DATABASE_URL: await schemaUrl(server.url, schema) };
}

async function compareEngines(): Promise<void> {
  const pace = { sliceMs: Number(values.seconds) * 1_000, rounds: Number(values.pairs) + 1 };
  await using postgres = await openContestant({ environment: await environmentOf('contest') });
  await using embedded = await openContestant({});
  const rows = await contest(postgres, embedded, { pace, only: values.only });
  const loaded = [await postgres.residentBytes(), await embedded.residentBytes()];
  const head = ['what', 'PostgreSQL', 'embedded', 'ratio', '95 % interval of the median'];
  const after = ['memory after all that', ...loaded.map(inMegabytes), '', ''];
  process.stdout.write(`${table([head, ...rows, after])}\n`);
}

/** A year of minutes of each kind of values. */
async function keepHistory(days: number): Promise<void> {
  using directory = temporaryDirectory();
  const environment = await environmentOf('history');
  await using store = await startKipimoHistory(directory.path, environment);
  const client = createHistoryClient(new AbortController().signal);
  const to = Math.floor(Date.now() / dayMs) * dayMs - 1;
  const from = to + 1 - days * dayMs;
  const span = { from, to, rangeTo: from + historyLimits.rangePoints * historyLimits.stepMs - 1 };
  const count = (days * dayMs) / historyLimits.stepMs;
  const rows: string[][] = [['a year of minutes on PostgreSQL', '']];
  for (const [at, kind] of seriesKinds.entries()) {
    const before = await storedBytes();
    const points = pointsOf(kind, { from, stepMs: historyLimits.stepMs, seed: at + 1 });
    for (let left = count; left > 0; left -= historyLimits.pointsPerRequest) {
      const length = Math.min(left, historyLimits.pointsPerRequest);
      const some = Array.from({ length }, () => points.next().value);
      await client.send(store, store.pushOf(kind.name, 0, some));
    }
    await wait(restMs);
    const bytes = (await storedBytes()) - before;
    rows.push([`bytes a datapoint, ${kind.meaning}`, (bytes / count).toFixed(2)]);
  }
  for (const query of ['yearByDay', 'yearByHour', 'last1000'] as const) {
    const times: number[] = [];
    for (let round = 0; round < queryRounds; round += 1) {
      times.push((await client.send(store, store.queryOf(query, span))).tookMs);
    }
    const first = `first ${Math.round(times[0] ?? 0)} ms`;
    rows.push([`${query} of ${queriedKind}`, `${median(times.slice(1)).toFixed(1)} ms, ${first}`]);
  }
  client.close();
  process.stdout.write(`${table(rows)}\n`);
}

/** What all tables of the history take, with their indexes, when what was deleted is let go. */
async function storedBytes(): Promise<number> {
  await onServer(server.url, 'vacuum history.hot, history.chunks, history.sensors');
  const { rows } = await onServer(
    server.url,
    `select sum(pg_total_relation_size(format('history.%I', tablename)::regclass))::float8 as bytes
     from pg_tables where schemaname = 'history'`,
  );
  return Number(rows[0]?.bytes ?? Number.NaN);
}
