import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../src/lib/clock.ts';
import { historyLimits } from './history-limits.ts';
import { pointsOf, queriedKind, type SeriesPoint, seriesKinds } from './history-series.ts';
import {
  bytesBelow,
  createHistoryClient,
  crowdKind,
  type HistoryClient,
  type HistoryQuery,
  type HistoryRequest,
  type HistorySpan,
  type HistoryStore,
  historyQueries,
} from './history-store.ts';
import { startInfluxHistory } from './influx-history.ts';
import { startKipimoHistory } from './kipimo-history.ts';
import { median } from './rounds.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { startVictoriaHistory } from './victoria-history.ts';

export interface HistoryBenchOptions {
  /** Of every kind so many days of minutes; of the crowd, of every ten minutes. */
  readonly days: number;
  /** Datapoints that are pushed one by one, of each kind that is. */
  readonly livePoints: number;
  /** Between the last push and the look at the disk. */
  readonly restMs: number;
  readonly rounds: number;
  /** What is stored in bulk ends before today. */
  readonly clock: Clock;
  readonly onStage: (stage: string) => void;
  readonly signal: AbortSignal;
}

/** What one store did. */
export interface StoreFigures {
  readonly name: string;
  /** By kind, and by "kind, live": a rest after the last push, beyond the empty store. */
  readonly bytesPerPoint: ReadonlyMap<string, number>;
  /** All of them together, with the crowd. */
  readonly bytesPerPointInAll: number;
  readonly bulkPerSecond: number;
  readonly livePerSecond: number;
  /** Medians over the rounds. */
  readonly queries: Readonly<Record<HistoryQuery, { readonly ms: number; readonly lines: number }>>;
}

export interface HistoryBenchReport {
  readonly points: number;
  readonly livePoints: number;
  readonly stores: readonly StoreFigures[];
}

const liveKinds = ['tenths', queriedKind];

/** What is under way for one store. */
interface Tally {
  readonly store: HistoryStore;
  readonly emptyBytes: number;
  readonly bytesPerPoint: Map<string, number>;
  bytes: number;
  points: number;
  bulkMs: number;
  bulkPoints: number;
  liveMs: number;
  livePoints: number;
}

/** Stores the same histories in every store that is installed, and asks them the same. */
export async function runHistoryBench(options: HistoryBenchOptions): Promise<HistoryBenchReport> {
  const { onStage, signal } = options;
  using directory = temporaryDirectory();
  await using opened = new AsyncDisposableStack();
  onStage('starting the stores');
  const stores: HistoryStore[] = [];
  for (const start of [startKipimoHistory, startVictoriaHistory, startInfluxHistory]) {
    const store = await start(directory.path);
    if (store !== undefined) stores.push(opened.use(store));
  }
  const client = createHistoryClient(signal);
  opened.defer(() => client.close());
  await wait(options.restMs, undefined, { signal });
  const tallies = stores.map((store): Tally => {
    const emptyBytes = bytesBelow(store.directory);
    return {
      ...{ store, emptyBytes, bytes: emptyBytes, bytesPerPoint: new Map(), points: 0 },
      ...{ bulkMs: 0, bulkPoints: 0, liveMs: 0, livePoints: 0 },
    };
  });
  const span = spanOf(options);
  await loadKinds(options, { client, tallies, span });
  await loadLive(options, { client, tallies });
  await loadCrowd(options, { client, tallies, span });
  onStage('asking');
  const answers = await askAll(options, { client, stores, span });
  const stored = Math.floor((span.to + 1 - span.from) / historyLimits.stepMs);
  for (const [at, store] of stores.entries()) {
    const read = answers[at]?.yearCsv?.lines ?? 0;
    if (read < stored) throw new Error(`${store.name} answered ${read} of ${stored} datapoints`);
  }
  return {
    points: tallies[0]?.points ?? 0,
    livePoints: options.livePoints,
    stores: tallies.map((tally, at) => ({
      name: tally.store.name,
      bytesPerPoint: tally.bytesPerPoint,
      bytesPerPointInAll: (tally.bytes - tally.emptyBytes) / tally.points,
      bulkPerSecond: (tally.bulkPoints / tally.bulkMs) * 1_000,
      livePerSecond: (tally.livePoints / tally.liveMs) * 1_000,
      // One for each store.
      queries: answers[at] as StoreFigures['queries'],
    })),
  };
}

interface Load {
  readonly client: HistoryClient;
  readonly tallies: readonly Tally[];
}

const dayMs = 86_400_000;

function spanOf({ days, clock }: HistoryBenchOptions): HistorySpan {
  const to = Math.floor(clock.now() / dayMs) * dayMs - 1;
  const from = to + 1 - days * dayMs;
  return { from, to, rangeTo: from + historyLimits.rangePoints * historyLimits.stepMs - 1 };
}

async function loadKinds(
  options: HistoryBenchOptions,
  { client, tallies, span }: Load & { readonly span: HistorySpan },
): Promise<void> {
  const count = Math.floor((span.to + 1 - span.from) / historyLimits.stepMs);
  for (const [at, kind] of seriesKinds.entries()) {
    options.onStage(`storing ${kind.meaning} in bulk`);
    const points = pointsOf(kind, {
      from: span.from,
      stepMs: historyLimits.stepMs,
      seed: at + 1,
    });
    await pushInBulk(kind.name, { client, tallies, count, next: () => points.next().value });
    await weigh(kind.name, options, { tallies, count });
  }
}

async function pushInBulk(
  kind: string,
  load: Load & {
    readonly count: number;
    readonly next: () => SeriesPoint;
    readonly seriesOf?: (request: number) => number;
  },
): Promise<void> {
  const { client, tallies, count, next, seriesOf = () => 0 } = load;
  const { pointsPerRequest, requestsInFlight } = historyLimits;
  let left = count;
  for (let number = 0; left > 0; ) {
    const batches: { readonly series: number; readonly points: readonly SeriesPoint[] }[] = [];
    while (left > 0 && batches.length < requestsInFlight) {
      const length = Math.min(left, pointsPerRequest);
      batches.push({ series: seriesOf(number), points: Array.from({ length }, next) });
      number += 1;
      left -= length;
    }
    // Each store in turn takes the same, so that a machine that slows down slows all of them.
    for (const tally of tallies.filter(({ store }) => store.takes(kind))) {
      const requests = batches.map(({ series, points }) =>
        tally.store.pushOf(kind, series, points),
      );
      const startedAt = performance.now();
      await Promise.all(requests.map((message) => client.send(tally.store, message)));
      tally.bulkMs += performance.now() - startedAt;
      for (const { points } of batches) tally.bulkPoints += points.length;
    }
  }
}

/** Datapoints one by one, each measured some milliseconds before it is received. */
async function loadLive(options: HistoryBenchOptions, { client, tallies }: Load): Promise<void> {
  const { livePoints: count, clock, signal } = options;
  for (const name of liveKinds) {
    const kind = seriesKinds.find((one) => one.name === name);
    if (kind === undefined || count === 0) continue;
    options.onStage(`pushing ${kind.meaning} one by one`);
    for (const tally of tallies) {
      const values = pointsOf(kind, { from: 0, stepMs: 1_000, seed: 7 });
      const startedAt = performance.now();
      let left = count;
      const one = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const { value, timestamp: jitter } = values.next().value;
          const timestamp = clock.now() - 50 - (jitter % 1_000);
          await client.send(
            tally.store,
            tally.store.pushOf(`${name}_live`, 0, [{ timestamp, value }]),
          );
        }
      };
      await Promise.all(Array.from({ length: historyLimits.liveInFlight }, one));
      signal.throwIfAborted();
      tally.liveMs += performance.now() - startedAt;
      tally.livePoints += count;
    }
    await weigh(`${name}, live`, options, { tallies, count, kind: `${name}_live` });
  }
}

async function loadCrowd(
  options: HistoryBenchOptions,
  { client, tallies, span }: Load & { readonly span: HistorySpan },
): Promise<void> {
  const { crowdSensors, crowdStepMs } = historyLimits;
  const kind = seriesKinds.find(({ name }) => name === queriedKind);
  if (kind === undefined) return;
  options.onStage(`storing the same of ${crowdSensors} sensors, every ten minutes`);
  const perSensor = Math.floor((span.to + 1 - span.from) / crowdStepMs);
  for (let series = 0; series < crowdSensors; series += 1) {
    const points = pointsOf(kind, { from: span.from, stepMs: crowdStepMs, seed: 100 + series });
    await pushInBulk(crowdKind, {
      ...{ client, tallies, count: perSensor, next: () => points.next().value },
      seriesOf: () => series,
    });
  }
  options.signal.throwIfAborted();
  await weigh(crowdKind, options, { tallies, count: perSensor * crowdSensors });
}

/** Waits, and says by how much the files of each store grew. */
async function weigh(
  label: string,
  { restMs, signal }: HistoryBenchOptions,
  of: { readonly tallies: readonly Tally[]; readonly count: number; readonly kind?: string },
): Promise<void> {
  for (const { store } of of.tallies) await store.settle();
  await wait(restMs, undefined, { signal });
  for (const tally of of.tallies) {
    if (!tally.store.takes(of.kind ?? label)) continue;
    const bytes = bytesBelow(tally.store.directory);
    tally.bytesPerPoint.set(label, (bytes - tally.bytes) / of.count);
    tally.bytes = bytes;
    tally.points += of.count;
  }
}

async function askAll(
  { rounds }: HistoryBenchOptions,
  {
    client,
    stores,
    span,
  }: {
    readonly client: HistoryClient;
    readonly stores: readonly HistoryStore[];
    readonly span: HistorySpan;
  },
): Promise<readonly Partial<StoreFigures['queries']>[]> {
  const answers = stores.map(() => ({}) as Record<HistoryQuery, { ms: number; lines: number }>);
  for (const query of historyQueries) {
    const requests: readonly HistoryRequest[] = stores.map((store) => store.queryOf(query, span));
    const tookMs = stores.map((): number[] => []);
    const lines = stores.map(() => 0);
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < stores.length; turn += 1) {
        // Whoever comes first changes with every round.
        const at = (round + turn) % stores.length;
        const [store, message] = [stores[at], requests[at]];
        if (store === undefined || message === undefined) continue;
        const answer = await client.send(store, message);
        tookMs[at]?.push(answer.tookMs);
        lines[at] = answer.lines;
      }
    }
    for (const [at, times] of tookMs.entries()) {
      const answer = answers[at];
      // The first round finds cold caches and code that is not compiled.
      if (answer !== undefined) {
        answer[query] = { ms: median(times.slice(1)), lines: lines[at] ?? 0 };
      }
    }
  }
  return answers;
}
