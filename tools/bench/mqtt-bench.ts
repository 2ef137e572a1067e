import { benchLimits } from './bench-limits.ts';
import { benchLogin, startBenchService } from './bench-service.ts';
import type { ChildService } from './child-service.ts';
import { type BesideDisk, compareWithDisk, openDiskSync } from './disk-sync.ts';
import { freePort } from './free-port.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { type MqttConnection, openMqttConnections } from './mqtt-connection.ts';
import { type CrowdFigures, measureCrowd } from './mqtt-crowd.ts';
import type { MqttLogin } from './mqtt-packets.ts';
import { runMqttSlice } from './mqtt-slices.ts';
import { createPublishTraffic, type PublishTraffic } from './mqtt-traffic.ts';
import { compareStored, openBenchClient, type StoredFigures } from './population.ts';
import { startProcessorTime } from './processor-time.ts';
import {
  alternate,
  type BenchRun,
  type Figures,
  mediansOf,
  type Pair,
  summarize,
} from './rounds.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface MqttBenchOptions extends BenchRun {
  /** Idle connections to open. */
  readonly connections: number;
}

/** Ours, and the other broker's where it is installed. */
export interface Beside<What> {
  readonly ours: What;
  readonly theirs?: What;
}

/** Everything one run measured. */
export interface MqttBenchReport extends StoredFigures {
  readonly publish: Beside<Figures> & { readonly ratio?: number };
  /** Deliveries per second, all subscribers together. */
  readonly fanOut: Beside<Figures> & { readonly ratio?: number };
  /** Of one publisher that waits for every PUBACK, beside the disk. */
  readonly lonePublish: BesideDisk;
  readonly crowd: Beside<CrowdFigures>;
}

/** The loads: publishers and subscribers, and how many publishes of each wait for their PUBACK. */
export const mqttLoads = {
  publish: { publishers: 20, subscribers: 0, window: 20 },
  fanOut: { publishers: 4, subscribers: 10, window: 20 },
  lone: { publishers: 1, subscribers: 0, window: 1 },
} as const;

type Load = (typeof mqttLoads)[keyof typeof mqttLoads];

/** One side of a comparison over MQTT. */
export interface Broker {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly login?: Omit<MqttLogin, 'clientId'>;
  readonly traffic: PublishTraffic;
}

/** Measures a fresh service, beside Mosquitto where it is installed. */
export async function runMqttBench(options: MqttBenchOptions): Promise<MqttBenchReport> {
  using directory = temporaryDirectory();
  options.onStage('starting the brokers');
  const mqttPort = await freePort();
  await using service = await startBenchService(directory.path, { mqttPort });
  await using mosquitto = await startMosquitto(directory.path);
  const client = await openBenchClient(service.url, benchLogin);
  await client.createPopulation();
  const startAt = options.clock.now() - benchLimits.pastMs;
  const ours = oursOf(service, { mqttPort, token: client.token, startAt });
  const theirs = mosquitto === undefined ? undefined : theirsOf(mosquitto, startAt);
  const compared = await runStages(options, ours, theirs);
  const lonePublish = await publishOneByOne(options, ours, directory.path);
  options.onStage('counting what is stored');
  return { ...compared, lonePublish, ...(await compareStored(client, ours.traffic.acknowledged)) };
}

function oursOf(
  { pid }: ChildService,
  given: { readonly mqttPort: number; readonly token: string; readonly startAt: number },
): Broker {
  const traffic = createPublishTraffic(given.startAt);
  const login = { username: benchLogin.username, password: given.token };
  return { name: 'ours', port: given.mqttPort, pid, login, traffic };
}

function theirsOf({ port, pid }: Mosquitto, startAt: number): Broker {
  return { name: 'theirs', port, pid, traffic: createPublishTraffic(startAt) };
}

async function runStages(options: MqttBenchOptions, ours: Broker, theirs: Broker | undefined) {
  const { onStage } = options;
  // First: after a load the connections would fit into memory that the load has left behind.
  onStage(`opening ${options.connections} connections`);
  const crowdOf = ({ port, pid, login, name }: Broker) =>
    measureCrowd({
      port,
      pid,
      connections: options.connections,
      login: (index) => ({ clientId: `${name}-idle-${index}`, ...login }),
    });
  const crowd = { ours: await crowdOf(ours), ...(theirs && { theirs: await crowdOf(theirs) }) };
  onStage('publishing single values with QoS 1');
  const publish = await compareLoad(options, mqttLoads.publish, ours, theirs);
  onStage(`publishing to ${mqttLoads.fanOut.subscribers} subscribers`);
  const fanOut = await compareLoad(options, mqttLoads.fanOut, ours, theirs);
  return { publish, fanOut, crowd };
}

/** In turns with the disk. */
async function publishOneByOne(
  { pace, signal, onStage }: MqttBenchOptions,
  broker: Broker,
  directory: string,
): Promise<BesideDisk> {
  onStage('publishing single values one by one');
  const broken = new AbortController();
  const both = AbortSignal.any([signal, broken.signal]);
  using disk = openDiskSync(directory);
  await using parties = await openParties(broker, mqttLoads.lone, (error) => broken.abort(error));
  const ours = (durationMs: number) => runLoad(broker, parties, mqttLoads.lone, durationMs, both);
  // Awaited here: the connection is closed on the way out.
  return await compareWithDisk({ disk, ours, pace, signal: both });
}

async function compareLoad(
  options: MqttBenchOptions,
  load: Load,
  ours: Broker,
  theirs: Broker | undefined,
): Promise<Beside<Figures> & { readonly ratio?: number }> {
  const { pace, signal } = options;
  if (theirs !== undefined) return summarize(await mqttPairsOf(options, load, ours, theirs));
  const broken = new AbortController();
  const both = AbortSignal.any([signal, broken.signal]);
  const onFailure = (error: Error) => broken.abort(error);
  await using toOurs = await openParties(ours, load, onFailure);
  const runOurs = () => runLoad(ours, toOurs, load, pace.sliceMs, both);
  const slices: Figures[] = [];
  for (let round = 0; round < pace.rounds; round += 1) slices.push(await runOurs());
  return { ours: mediansOf(slices.slice(1)) };
}

/** The figures of every pair of neighbouring slices of two brokers, but for the first. */
export async function mqttPairsOf(
  { pace, signal }: Pick<MqttBenchOptions, 'pace' | 'signal'>,
  load: Load,
  ours: Broker,
  theirs: Broker,
): Promise<readonly Pair<Figures>[]> {
  const broken = new AbortController();
  const both = AbortSignal.any([signal, broken.signal]);
  const onFailure = (error: Error) => broken.abort(error);
  await using toOurs = await openParties(ours, load, onFailure);
  await using toTheirs = await openParties(theirs, load, onFailure);
  // Awaited here: the connections are closed on the way out.
  return await alternate({
    rounds: pace.rounds,
    ours: () => runLoad(ours, toOurs, load, pace.sliceMs, both),
    theirs: () => runLoad(theirs, toTheirs, load, pace.sliceMs, both),
  });
}

interface Parties extends AsyncDisposable {
  readonly publishers: readonly MqttConnection[];
  readonly subscribers: readonly MqttConnection[];
}

async function openParties(
  broker: Broker,
  load: Load,
  onFailure: (error: Error) => void,
): Promise<Parties> {
  const { name, port, login } = broker;
  const open = (role: string, wanted: number) =>
    openMqttConnections({
      port,
      count: wanted,
      parallel: wanted,
      login: (index) => ({ clientId: `${name}-${role}-${index}`, ...login }),
      onFailure,
    });
  const publishers = await open('publisher', load.publishers);
  const subscribers = await open('subscriber', load.subscribers);
  for (const subscriber of subscribers) await subscriber.subscribe('devices/#', 0);
  return {
    publishers,
    subscribers,
    async [Symbol.asyncDispose]() {
      for (const connection of [...publishers, ...subscribers]) connection.close();
    },
  };
}

async function runLoad(
  { traffic, pid }: Broker,
  { publishers, subscribers }: Parties,
  { window }: Load,
  durationMs: number,
  signal: AbortSignal,
): Promise<Figures> {
  const costsOf = startProcessorTime(pid);
  const startedAt = performance.now();
  const figures = await runMqttSlice({
    ...{ publishers, subscribers, traffic, window, durationMs, signal },
  });
  const costs = costsOf((figures.perSecond * (performance.now() - startedAt)) / 1_000);
  return { ...figures, ...(costs && { costs }) };
}
