import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { benchLimits } from './bench-limits.ts';
import { benchLogin, startBenchService } from './bench-service.ts';
import { type ChildService, startChildService } from './child-service.ts';
import { type BesideDisk, compareWithDisk, openDiskSync } from './disk-sync.ts';
import type { Traffic } from './load-slice.ts';
import {
  type BenchClient,
  compareStored,
  openBenchClient,
  type StoredFigures,
} from './population.ts';
import type { ProfileLine } from './profile.ts';
import { profileDuring } from './profile-stage.ts';
import {
  type BenchRun,
  type Comparison,
  compare,
  type Figures,
  measure,
  withConnections,
} from './rounds.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { createPushTraffic, createReadTraffic, deviceIds, sensorPaths } from './traffic.ts';

export interface HttpBenchOptions extends BenchRun {
  /** Numbers of connections that push. */
  readonly connections: readonly number[];
  /** Whether to tell where the time of the service goes under pushes and reads of devices. */
  readonly hasProfile?: boolean;
  /** Before the idle memory is measured, after the start. */
  readonly restMs: number;
}

/** Everything one run measured. */
export interface HttpBenchReport extends StoredFigures {
  readonly readyMs: number;
  readonly idleBytes?: number;
  readonly loadedBytes?: number;
  readonly pushes: readonly (Comparison & { readonly connections: number })[];
  /** Of one client that waits for every answer, beside the disk. */
  readonly lonePush: BesideDisk;
  readonly deviceReads: Comparison & { readonly connections: number };
  /** Where the main thread spent its time under a load, the most first; when it was asked for. */
  readonly profile?: LoadProfiles;
  /** One client that asks for the last 100 values of a sensor, again and again. */
  readonly lastValues: Figures;
}

/** What the main thread does under pushes, and under reads of devices. */
export interface LoadProfiles {
  readonly pushes: readonly ProfileLine[];
  readonly deviceReads: readonly ProfileLine[];
}

const readConnections = 64;

/** Measures a fresh service against the no-op, both in processes of their own. */
export async function runHttpBench(options: HttpBenchOptions): Promise<HttpBenchReport> {
  using directory = temporaryDirectory();
  options.onStage('starting the service');
  const profileFile = join(directory.path, 'pushes.cpuprofile');
  await using service = await startBenchService(directory.path, {
    mqttPort: 0,
    ...(options.hasProfile === true && { profileFile }),
  });
  const client = await openBenchClient(service.url, benchLogin);
  await client.createPopulation();
  options.onStage('letting the service rest');
  await wait(options.restMs, undefined, { signal: options.signal });
  const idleBytes = await client.residentBytes();
  await using noOp = await startChildService({
    words: ['bench', 'no-op', '--device', await client.readDevice()],
    directory: directory.path,
    environment: {},
  });
  const parties = { service, noOp, client, profileFile, directory: directory.path };
  const measured = await runStages(options, parties);
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
    readonly profileFile: string;
    /** Of the data of the service. */
    readonly directory: string;
  },
) {
  const { pace, signal, onStage } = options;
  const { service, noOp, client, directory } = parties;
  const { token } = client;
  const startAt = options.clock.now() - benchLimits.pastMs;
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

  const lonePush = await pushOneByOne(options, service.port, { directory, traffic: pushTraffic });

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

  // After all that is compared: a service that was profiled is slower.
  const profile =
    options.hasProfile === true &&
    (await profileLoads(options, parties, { pushes: pushTraffic, deviceReads: readDevices() }));

  onStage('reading the last 100 values of a sensor');
  const valuePaths = sensorPaths.map((path) => `${path}/values?lastN=100`);
  const lastValues = await measure({
    side: { port: service.port, traffic: createReadTraffic({ paths: valuePaths, token }) },
    connections: 1,
    pace: { sliceMs: pace.sliceMs / 2, rounds: 3 },
    signal,
  });

  onStage('counting what is stored');
  return {
    pushes,
    lonePush,
    deviceReads: { connections: readConnections, ...deviceReads },
    lastValues,
    ...(profile !== false && { profile }),
    ...(await compareStored(client, pushTraffic.acknowledged)),
  };
}

/** One connection, one request under way, in turns with the disk. */
async function pushOneByOne(
  { pace, signal, onStage }: HttpBenchOptions,
  port: number,
  given: { readonly directory: string; readonly traffic: Traffic },
): Promise<BesideDisk> {
  onStage('pushing single values one by one');
  using disk = openDiskSync(given.directory);
  // Awaited here: the file is closed on the way out.
  return await withConnections({ port, count: 1, signal }, (run) => {
    const ours = (durationMs: number) => run(given.traffic, durationMs);
    return compareWithDisk({ disk, ours, pace, signal });
  });
}

async function profileLoads(
  { connections: [connections = 64], pace, signal, onStage }: HttpBenchOptions,
  parties: { readonly service: ChildService; readonly profileFile: string },
  loads: { readonly pushes: Traffic; readonly deviceReads: Traffic },
): Promise<LoadProfiles> {
  const { service, profileFile: file } = parties;
  const profileOf = (traffic: Traffic, count: number) =>
    profileDuring({ pid: service.pid, file }, () =>
      measure({ side: { port: service.port, traffic }, connections: count, pace, signal }),
    );
  onStage(`profiling pushes over ${connections} connections`);
  const pushes = await profileOf(loads.pushes, connections);
  onStage(`profiling reads of devices over ${readConnections} connections`);
  return { pushes, deviceReads: await profileOf(loads.deviceReads, readConnections) };
}
