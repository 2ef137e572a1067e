import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { launchHaproxy, replace } from '../haproxy.ts';
import { freePort } from '../postgres-server.ts';
import type { History } from './history.ts';
import type { Member, MemberOptions } from './member.ts';
import { startMember } from './member.ts';
import type { Fault } from './nemesis.ts';
import type { PatroniServer } from './patroni-server.ts';
import { type PatroniServers, startPatroni } from './patroni-servers.ts';
import type { QuietProcesses } from './story.ts';

/** Processes that find the primary in two ways, on servers of Patroni. */
export interface PatroniCluster extends QuietProcesses {
  readonly database: PatroniServers;
  readonly history: History;
}

/** The names of the processes say how each finds the primary. */
export const ways = ['several hosts', 'HAProxy'] as const;

const balancerFile = new URL('../../deploy/haproxy-postgres.cfg', import.meta.url);
/** For how long all is as a failover left it, before what was broken comes back. */
const calmMs = 8_000;
/** How much later than a machine its network wakes. */
const wakeMs = 500;

/** The configuration that we give to operators, but for addresses. */
function balancerFor(servers: readonly PatroniServer[], port: number): string {
  const bound = replace(
    readFileSync(balancerFile, 'utf8'),
    /^ {4}bind :5432$/gm,
    1,
    '    bind BIND',
  );
  const silent = replace(bound, /^ {4}log stdout format raw local0\n/gm, 1, '');
  const text = replace(silent, / resolvers names$/gm, servers.length, '');
  return servers.reduce(
    (all, { name, port: own, apiPort }) =>
      replace(
        replace(all, new RegExp(`${name}\\.example:5432`, 'g'), 1, `127.0.0.1:${own}`),
        new RegExp(`(server ${name} \\S+ check port) 8008`, 'g'),
        1,
        `$1 ${apiPort}`,
      ),
    text.replace('BIND', `127.0.0.1:${port}`),
  );
}

/** Starts etcd, three servers, HAProxy before them, and two processes. */
export async function openPatroniCluster(history: History): Promise<PatroniCluster> {
  await using opened = new AsyncDisposableStack();
  const directory = temporaryDirectory({ after: (end) => opened.defer(async () => end()) });
  const database = await startPatroni();
  opened.defer(() => database.close());
  const balancerPort = await freePort();
  const balancer = balancerFor(database.servers, balancerPort);
  opened.use(await launchHaproxy(directory, balancer, balancerPort));
  const ports = database.servers.map(({ port }) => port);
  const severalHosts = `${database.urlAt(...ports)}?target_session_attrs=read-write`;
  const start = async (
    name: (typeof ways)[number],
    options: Pick<MemberOptions, 'databasePort' | 'databaseUrl'>,
  ): Promise<Member> => {
    const member = await startMember({
      ...{ name, directory, history, ...options },
      environment: {
        KIPIMO_ADMIN_PASSWORD: 'admin-password-1',
        KIPIMO_WEBHOOK_PRIVATE: 'allowed',
        KIPIMO_PROCESSES: 'several',
      },
    });
    opened.defer(() => member.close());
    return member;
  };
  const members = [
    await start('several hosts', { databasePort: 0, databaseUrl: () => severalHosts }),
    await start('HAProxy', {
      databasePort: balancerPort,
      databaseUrl: (port) => database.urlAt(port),
    }),
  ];
  const open = opened.move();
  return {
    ...{ members, database, history },
    defer: (end) => void open.defer(async () => void (await end())),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** One that Patroni bears. */
export interface PatroniFault extends Fault<PatroniCluster> {
  /** The first version that does; absent: each that the suite runs on. */
  readonly since?: string;
}

/** Before it, a primary that wakes takes its lock back from the next one: its commits are lost. */
const wakesRight = '3.0.3';

/** Until another server is the primary, and clients have used it, something is broken. */
const replacing = (
  name: string,
  {
    breakIt,
    mend,
    ...rest
  }: Pick<PatroniFault, 'since'> &
    Readonly<Record<'breakIt' | 'mend', (primary: PatroniServer) => unknown>>,
): PatroniFault => ({
  ...{ name, ...rest },
  async inflict({ database, history }) {
    const primary = await database.primary();
    breakIt(primary);
    try {
      const next = await database.primary(primary);
      const doesWait = await database.waitsForStandby(next);
      if (!doesWait) history.oddities.push(`${next.name} began by acknowledging alone`);
      await wait(calmMs);
    } finally {
      await mend(primary);
    }
    await database.untilWhole();
  },
});

/** What the servers are subjected to. */
export const patroniFaults: readonly PatroniFault[] = [
  replacing('the primary is killed with its Patroni', {
    breakIt: (primary) => primary.kill(),
    mend: (primary) => primary.start(),
  }),
  replacing('the primary stands still with its Patroni, and wakes', {
    since: wakesRight,
    breakIt: (primary) => primary.stop(),
    mend: (primary) => primary.wake(),
  }),
  replacing('the primary stands still with its Patroni, and wakes before its network', {
    since: wakesRight,
    breakIt(primary) {
      primary.etcdLink.set('silent');
      primary.stop();
    },
    async mend(primary) {
      // It knows of etcd what it knew when it stood still.
      primary.wake();
      await wait(wakeMs);
      primary.etcdLink.set('open');
    },
  }),
  replacing('the primary is cut off from etcd', {
    breakIt: ({ etcdLink }) => etcdLink.set('silent'),
    mend: ({ etcdLink }) => etcdLink.set('open'),
  }),
  {
    name: 'the primary is cut off from its standbys',
    async inflict({ database, history }) {
      const { serverLink } = await database.primary();
      serverLink.set('silent');
      const cutAt = performance.now();
      // It asks the next standby, and waits for any.
      await wait(2 * calmMs);
      const openAt = performance.now();
      serverLink.set('open');
      history.oddities.push(
        ...history.sent
          .filter((one) => one.sentAt > cutAt && one.answeredAt < openAt)
          .filter(({ outcome }) => outcome === 'acknowledged')
          .map(({ mark }) => `${mark} was acknowledged when no standby could have it`),
      );
      await database.untilWhole();
    },
  },
  {
    name: 'the primary is killed, and the next one once it is promoted',
    async inflict({ database }) {
      const first = await database.primary();
      first.kill();
      try {
        const second = await database.primary(first);
        second.kill();
        await wait(calmMs);
        // Nobody else has what it may have acknowledged: the third waits for it.
        second.start();
        await database.primary(first);
      } finally {
        first.start();
      }
      await database.untilWhole();
    },
  },
  {
    name: 'another server is made the primary, as before work on a machine',
    async inflict({ database }) {
      await database.switchOver();
      await database.untilWhole();
    },
  },
];
