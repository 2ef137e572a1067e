// How long a client waits whose kept MQTT session is another process's, on one PostgreSQL that
// syncs each commit: node bench/takeovers.ts [--takeovers 200] [--processes 3] [--pushes 0]
import { parseArgs } from 'node:util';
import { schemaUrl, startPostgres } from '../test/postgres-server.ts';
import { connectPeer, type Peer } from '../test/walks/mqtt-peer.ts';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';
import { postJson } from './post-json.ts';

const { values } = parseArgs({
  options: {
    takeovers: { type: 'string', default: '200' },
    processes: { type: 'string', default: '3' },
    /** Pushes that each process is answering meanwhile. */
    pushes: { type: 'string', default: '0' },
  },
});
const takeovers = Number(values.takeovers);
const processes = Number(values.processes);
const warmUp = 20;
const sensor = 'devices/field/sensors/s/value';

/** A client with a kept session that has subscribed to a sensor with QoS 1. */
async function connect(url: string, token: string, clientId: string): Promise<Peer> {
  const peer = await connectPeer({
    ...{ url, clientId, version: 5, username: 'x', password: token },
    onPacket: (packet) => {
      const { cmd, messageId } = packet;
      if (cmd === 'publish' && messageId !== undefined) peer.send({ cmd: 'puback', messageId });
    },
  });
  return peer;
}

interface Way {
  readonly meaning: string;
  /** Whether the connection before is there still. */
  readonly isOpen: boolean;
}

const ways: readonly Way[] = [
  { meaning: 'connected there still', isOpen: true },
  { meaning: 'said goodbye there', isOpen: false },
];

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

const server = await startPostgres({ isDurable: true });
try {
  const environment = {
    KIPIMO_DATABASE_URL: await schemaUrl(server.url, 'takeovers'),
    KIPIMO_PROCESSES: 'several',
  };
  using directories = new DisposableStack();
  await using services = new AsyncDisposableStack();
  const members: { readonly url: string }[] = [];
  for (let at = 0; at < processes; at += 1) {
    const { path } = directories.use(temporaryDirectory());
    const mqttPort = await freePort();
    members.push(services.use(await startBenchService(path, { mqttPort, environment })));
  }
  const urlOf = (at: number): string => members[at % processes]?.url ?? '';
  const token = await postJson(urlOf(0), '/auth/token', undefined, benchLogin);
  await postJson(urlOf(0), '/devices', token, {
    id: 'field',
    sensors: [{ id: 's' }, { id: 'other' }],
  });

  const takes = ways.map(() => [] as number[]);
  let isOver = false;
  const pushing = Array.from({ length: Number(values.pushes) * processes }, async (_, at) => {
    const path = '/devices/field/sensors/other/value';
    while (!isOver) await postJson(urlOf(at), path, token, { value: at });
  });
  const peers = await Promise.all(ways.map((_, at) => connect(urlOf(0), token, `client ${at}`)));
  for (const peer of peers) {
    const subscriptions = [{ topic: sensor, qos: 1 as const }];
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  }
  for (let take = 1; take <= takeovers + warmUp; take += 1) {
    for (const [at, { isOpen }] of ways.entries()) {
      if (!isOpen) await peers[at]?.end();
      const startedAt = performance.now();
      const peer = await connect(urlOf(take), token, `client ${at}`);
      if (take > warmUp) takes[at]?.push(performance.now() - startedAt);
      if (!peer.isSessionPresent) throw new Error('the session was lost');
      await peers[at]?.closed;
      peers[at] = peer;
    }
  }
  isOver = true;
  await Promise.all(pushing);
  const rows = ways.map(({ meaning }, at) => {
    const sorted = (takes[at] ?? []).toSorted((a, b) => a - b);
    return [
      meaning,
      ...[0.5, 0.9, 0.99, 1].map((part) => `${quantile(sorted, part).toFixed(1)} ms`),
    ];
  });
  process.stdout.write(
    `${table([[`${takeovers} takeovers`, 'p50', 'p90', 'p99', 'worst'], ...rows])}\n`,
  );
  await Promise.all(peers.map((peer) => peer.end()));
} finally {
  await server.close();
}
