import type { Clock } from '../../lib/clock.ts';
import { benchLogin, startBenchService } from './bench-service.ts';
import { type ChildService, startChildService } from './child-service.ts';
import { type BenchClient, openBenchClient } from './population.ts';
import { type Comparison, compare, type Figures, measure, type Pace } from './rounds.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { createPushTraffic, createReadTraffic, deviceIds, sensorPaths } from './traffic.ts';

export interface HttpBenchOptions {
  readonly pace: Pace;
  /** Numbers of connections that push. */
  readonly connections: readonly number[];
  readonly clock: Clock;
  /** Hears what is measured next. */
  readonly onStage: (stage: string) => void;
  /** Ends the run, with everything it started. */
  readonly signal: AbortSignal;
}

/** Everything one run measured. */
export interface HttpBenchReport {
  readonly readyMs: number;
  readonly idleBytes?: number;
  readonly loadedBytes?: number;
  readonly pushes: readonly (Comparison & { readonly connections: number })[];
  readonly deviceReads: Comparison & { readonly connections: number };
  /** One client that asks for the last 100 values of a sensor, again and again. */
  readonly lastValues: Figures;
  readonly acknowledged: number;
  readonly stored: number;
  /** Sensors on which the two differ. */
  readonly sensorsThatDiffer: number;
}

const readConnections = 64;
/** The last twelve hours: every value is of the past, however long the run. */
const pastMs = 12 * 3_600_000;

/** Measures a fresh service against the no-op, both in processes of their own. */
export async function runHttpBench(options: HttpBenchOptions): Promise<HttpBenchReport> {
  using directory = temporaryDirectory();
  options.onStage('starting the service');
  await using service = await startBenchService(directory.path, { mqttPort: 0 });
  const client = await openBenchClient(service.url, benchLogin);
  await client.createPopulation();
  const idleBytes = await client.residentBytes();
  await using noOp = await startChildService({
    words: ['bench', 'no-op', '--device', await client.readDevice()],
    directory: directory.path,
    environment: {},
  });
  const measured = await runStages(options, { service, noOp, client });
  const loadedBytes = await client.residentBytes();
  return {
    readyMs: service.readyMs,
    ...(idleBytes !== undefined && { idleBytes }),
    ...(loadedBytes !== undefined && { loadedBytes }),
    ...measured,
  };
}

async function runStages(
  options: HttpBenchOptions,
  parties: {
    readonly service: ChildService;
    readonly noOp: ChildService;
    readonly client: BenchClient;
  },
) {
  const { pace, signal, onStage } = options;
  const { service, noOp, client } = parties;
  const { token } = client;
  const startAt = options.clock.now() - pastMs;
  const pushTraffic = createPushTraffic({ token, startAt });
  const noOpPushes = createPushTraffic({ token, startAt });

  const pushes: (Comparison & { readonly connections: number })[] = [];
  for (const connections of options.connections) {
    onStage(`pushing single values over ${connections} connections`);
    const ours = { port: service.port, traffic: pushTraffic };
    const theirs = { port: noOp.port, traffic: noOpPushes };
    const comparison = await compare({ ours, noOp: theirs, connections, pace, signal });
    pushes.push({ connections, ...comparison });
  }

  onStage(`reading devices over ${readConnections} connections`);
  const devicePaths = deviceIds.map((id) => `/api/v2/devices/${id}`);
  const readDevices = () => createReadTraffic({ paths: devicePaths, token });
  const deviceReads = await compare({
    ours: { port: service.port, traffic: readDevices() },
    noOp: { port: noOp.port, traffic: readDevices() },
    connections: readConnections,
    pace,
    signal,
  });

  onStage('reading the last 100 values of a sensor');
  const valuePaths = sensorPaths.map((path) => `${path}/values?lastN=100`);
  const lastValues = await measure({
    side: { port: service.port, traffic: createReadTraffic({ paths: valuePaths, token }) },
    connections: 1,
    pace: { sliceMs: pace.sliceMs / 2, rounds: 3 },
    signal,
  });

  onStage('counting what is stored');
  const stored = await client.countStored();
  return {
    pushes,
    deviceReads: { connections: readConnections, ...deviceReads },
    lastValues,
    acknowledged: sumOf(pushTraffic.acknowledged),
    stored: sumOf(stored),
    sensorsThatDiffer: stored.filter((count, at) => count !== pushTraffic.acknowledged[at]).length,
  };
}

const sumOf = (numbers: Iterable<number>): number => {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
};
