// In a process of its own: it starts a coordinator, workers and processes, and kills them.
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { inSchema, type OwnPostgres, onServer } from '../postgres-server.ts';
import { type CitusServers, hasCitus, startCitus } from './citus-servers.ts';
import type { History } from './history.ts';
import { type Member, startMember } from './member.ts';
import { type Fault, processFaults } from './nemesis.ts';
import { schema, urlOnPort } from './postgres-pair.ts';
import { openStory, type QuietProcesses } from './story.ts';
import { requireRight } from './verdict.ts';

const seed = Number(process.env['NEMESIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env['NEMESIS_ROUNDS'] ?? 1);
/** Parts of the names of those that are inflicted; absent: all. */
const chosen = process.env['NEMESIS_FAULTS']?.split(';');

interface CitusCluster extends QuietProcesses {
  readonly servers: CitusServers;
}

/** Starts the servers, and two processes on them. */
async function openCitus(history: History): Promise<CitusCluster> {
  await using opened = new AsyncDisposableStack();
  const directory = temporaryDirectory({ after: (end) => opened.defer(async () => end()) });
  const servers = await startCitus();
  opened.defer(() => servers.close());
  await onServer(servers.url, `create schema ${schema}`);
  const members: Member[] = [];
  for (const number of [1, 2]) {
    const member = await startMember({
      ...{ name: `process ${number}`, directory, history },
      databasePort: Number(new URL(servers.url).port),
      databaseUrl: (port) => inSchema(urlOnPort(port), schema),
      environment: {
        KIPIMO_ADMIN_PASSWORD: 'admin-password-1',
        KIPIMO_WEBHOOK_PRIVATE: 'allowed',
        KIPIMO_PROCESSES: 'several',
      },
    });
    opened.defer(() => member.close());
    members.push(member);
  }
  const open = opened.move();
  return {
    ...{ members, servers },
    defer: (end) => void open.defer(async () => void (await end())),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const restart = (
  name: string,
  how: 'SIGINT' | 'SIGKILL',
  serverOf: (servers: CitusServers, at: number) => OwnPostgres | undefined,
): Fault<CitusCluster> => ({
  name,
  async inflict({ servers }, random) {
    const server = serverOf(servers, Math.floor(random() * servers.workers.length));
    await server?.stop(how);
    await server?.start();
  },
});

const faults: readonly Fault<CitusCluster>[] = [
  ...processFaults,
  restart('a worker is restarted', 'SIGINT', ({ workers }, at) => workers[at]),
  restart('a worker is killed and started again', 'SIGKILL', ({ workers }, at) => workers[at]),
  restart('the coordinator is killed and started again', 'SIGKILL', (all) => all.coordinator),
];

const options = { skip: hasCitus() ? false : 'needs Citus', timeout: rounds * 300_000 };

describe('on Citus with two workers', options, () => {
  test('two processes lose nothing, double nothing and keep the order', async (context) => {
    const say = (line: string) => context.diagnostic(line);
    say(`NEMESIS_SEED=${seed}`);
    const wanted = faults.filter(({ name }) => chosen?.some((part) => name.includes(part)) ?? true);
    await using story = await openStory<CitusCluster>({ seed, faults: wanted, open: openCitus });
    for (let round = 1; round <= rounds; round += 1) await story.round(say);
    requireRight(await story.conclude(say), seed);
  });
});
