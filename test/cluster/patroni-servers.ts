import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, onServer } from '../postgres-server.ts';
import { credentials } from './patroni-config.ts';
import { openServer, type PatroniServer } from './patroni-server.ts';

const said = spawnSync('patroni', ['--version'], { encoding: 'utf8' });
/** The version of Patroni; undefined: there is none, or no etcd. */
export const patroniVersion =
  said.status === 0 && spawnSync('etcd', ['--version']).status === 0
    ? /\d+\.\d+\.\d+/.exec(said.stdout)?.[0]
    : undefined;

/** Compares versions, such as 3.0.2 and 3.0.10. */
export const isOlder = (version: string, other: string): boolean =>
  version.localeCompare(other, 'en', { numeric: true }) < 0;

/** Three servers of one database, and etcd, in which they agree who is the primary. */
export interface PatroniServers {
  readonly servers: readonly PatroniServer[];
  /** Resolves with the server whose Patroni says that it is the primary, once one does. */
  primary(except?: PatroniServer): Promise<PatroniServer>;
  /** Once it is promoted: whether a commit waits for a standby there, also while there is none. */
  waitsForStandby(server: PatroniServer): Promise<boolean>;
  /** Resolves when all servers run, one of them the primary and one its synchronous standby. */
  untilWhole(): Promise<void>;
  /** Asks Patroni to make the standby the primary, as before work on a machine. */
  switchOver(): Promise<void>;
  /** Of the database for Kipimo, at these ports. */
  urlAt(...ports: readonly number[]): string;
  close(): Promise<void>;
}

/** Twice what a failover takes. */
const primaryMsMax = 60_000;
const wholeMsMax = 75_000;
const lookMs = 200;
const answerMsMax = 2_000;
const names = ['db1', 'db2', 'db3'];
const [role, password] = ['kipimo', 'cluster-password-2'];
const { superuser, api } = credentials();
const waiting = `
  select not pg_is_in_recovery() as promoted,
    current_setting('synchronous_standby_names') <> '' as waits`;

const urlOf = (user: { username: string; password: string }, hosts: string, name: string): string =>
  `postgres://${user.username}:${user.password}@${hosts}/${name}`;

/** What GET /cluster of Patroni answers. */
interface Cluster {
  readonly members: readonly {
    readonly name: string;
    readonly role: string;
    readonly state: string;
    readonly timeline?: number;
  }[];
}

/** What a Patroni answers; undefined: nothing, or that it is not so. */
async function ask(apiPort: number, path: string, json?: unknown): Promise<unknown> {
  const { username, password: word } = api;
  const reply = await fetch(`http://127.0.0.1:${apiPort}${path}`, {
    signal: AbortSignal.timeout(json === undefined ? answerMsMax : primaryMsMax),
    ...(json !== undefined && {
      ...{ method: 'POST', body: JSON.stringify(json) },
      headers: { authorization: `Basic ${btoa(`${username}:${word}`)}` },
    }),
  }).catch(() => undefined);
  const text = await reply?.text().catch(() => undefined);
  if (reply?.status !== 200 || text === undefined) return undefined;
  return text.startsWith('{') ? JSON.parse(text) : text;
}

/** Whether all run, in one line of history, and one standby has every commit. */
function isWhole({ members }: Cluster): boolean {
  const isRunning = ({ state }: { state: string }) => state === 'running' || state === 'streaming';
  const roles = members.map((member) => member.role).toSorted();
  const timelines = new Set(members.map(({ timeline }) => timeline));
  const wanted = ['leader', 'replica', 'sync_standby'];
  return `${roles}` === `${wanted}` && members.every(isRunning) && timelines.size === 1;
}

/** Starts an etcd on free ports. */
async function startEtcd(directory: string) {
  const [port, peerPort] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const words = [
    ...['--name', 'one', '--data-dir', join(directory, 'etcd')],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `one=${peerUrl}`],
  ];
  const child = spawn('etcd', words, { cwd: directory, stdio: 'ignore' });
  const exited = once(child, 'exit');
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  return {
    port,
    async close() {
      process.off('exit', end);
      end();
      await exited;
    },
  };
}

/** Starts them, and resolves when a user of their database finds them whole. */
export async function startPatroni(): Promise<PatroniServers> {
  await using opened = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-patroni-'));
  // The servers have a user of their own.
  chmodSync(directory, 0o755);
  opened.defer(() =>
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  );
  // A run that took too long is ended so: what it started has to end as well.
  process.once('SIGTERM', () => process.exit(1));
  const etcd = await startEtcd(directory);
  opened.defer(() => etcd.close());
  const servers: PatroniServer[] = [];
  for (const name of names) {
    const server = await openServer(name, directory, etcd.port);
    opened.defer(() => server.close());
    servers.push(server);
    server.start();
  }

  async function until<Found>(
    what: string,
    msMax: number,
    look: () => Promise<Found | undefined>,
  ): Promise<Found> {
    const giveUpAt = performance.now() + msMax;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > giveUpAt) {
        const said = servers.map((server) => `${server.name}: ${server.log()}`).join('\n');
        throw new Error(`${what} for ${msMax} ms\n${said}`);
      }
      await wait(lookMs);
    }
  }

  const primary = (except?: PatroniServer): Promise<PatroniServer> =>
    until('there is no primary', primaryMsMax, async () => {
      const asked = servers.filter((server) => server !== except);
      const answers = await Promise.all(asked.map(({ apiPort }) => ask(apiPort, '/primary')));
      return asked.find((_, at) => answers[at] !== undefined);
    });

  const untilWhole = async (): Promise<void> => {
    await until('not all servers are there', wholeMsMax, async () => {
      const answers = await Promise.all(servers.map(({ apiPort }) => ask(apiPort, '/cluster')));
      const whole = answers.filter((one) => one !== undefined && isWhole(one as Cluster));
      return whole.length === servers.length || undefined;
    });
  };

  const superuserUrl = ({ port }: PatroniServer): string =>
    urlOf(superuser, `127.0.0.1:${port}`, 'postgres');

  await untilWhole();
  const url = superuserUrl(await primary());
  await onServer(url, `create role ${role} login password '${password}'`);
  await onServer(url, `create database ${role} owner ${role}`);
  const open = opened.move();
  return {
    ...{ servers, primary, untilWhole },
    waitsForStandby: (server) =>
      until(`${server.name} is not promoted`, primaryMsMax, async () => {
        const { rows } = await onServer(superuserUrl(server), waiting);
        // Its Patroni says that it is the primary as soon as it has the lock.
        return rows[0].promoted ? rows[0].waits : undefined;
      }),
    async switchOver() {
      const leader = await primary();
      await ask(leader.apiPort, '/switchover', { leader: leader.name });
      await primary(leader);
    },
    urlAt(...ports) {
      const hosts = ports.map((one) => `127.0.0.1:${one}`).join(',');
      return urlOf({ username: role, password }, hosts, role);
    },
    close: () => open.disposeAsync(),
  };
}
