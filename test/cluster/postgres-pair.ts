import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findPostgres, freePort, onServer, owner, untilReady } from '../postgres-server.ts';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

/** A PostgreSQL with a standby that has every commit before it is answered. */
export interface PostgresPair {
  /** Of the server that takes changes now. */
  readonly port: number;
  /** Of its standby; undefined: it has none. */
  readonly standbyPort: number | undefined;
  /** Between the standby and its primary. */
  readonly standbyLink: TcpProxy;
  /** Ends the primary and starts it again; resolves when it takes connections. */
  restart(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Kills the primary for good and promotes the standby; resolves when that takes changes. */
  promote(): Promise<void>;
  /** Gives the primary a standby again where it has none, and waits until it has all commits. */
  pairUp(): Promise<void>;
  /**
   * Leaves no room on the disk of both for a while; resolves when the primary takes connections
   * again. Absent: this account may not mount a disk of their own.
   */
  readonly fillDisk: ((ms: number) => Promise<void>) | undefined;
  close(): Promise<void>;
}

interface Server {
  readonly data: string;
  readonly port: number;
  child: ChildProcess;
}

// What the operating system was given survives a killed process.
const settings = [
  ...['listen_addresses=127.0.0.1', 'fsync=off', 'full_page_writes=off', 'shared_buffers=32MB'],
  ...[
    'max_connections=100',
    'jit=off',
    'autovacuum_naptime=60s',
    'wal_retrieve_retry_interval=100',
  ],
  ...['wal_receiver_timeout=5s', 'wal_sender_timeout=5s', 'wal_keep_size=512MB'],
];

/** Of all processes of a run. */
export const schema = 'cluster';

export const urlOnPort = (port: number): string => `postgres://kipimo@127.0.0.1:${port}/postgres`;

/** Mounts a disk in memory, or changes it; false: this account may not. */
function mount(directory: string, options: string): boolean {
  const words = ['-t', 'tmpfs', '-o', options, 'tmpfs', directory];
  return spawnSync('mount', words, { stdio: 'ignore' }).status === 0;
}

/** Makes both and starts them. */
export async function startPair(): Promise<PostgresPair> {
  const programs = findPostgres() ?? '';
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-cluster-'));
  const user = owner();
  const hasDisk = mount(directory, 'size=4g');
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const standbyLink = await openProxy();
  let made = 0;

  function run(program: string, ...words: readonly string[]): void {
    const { status, stderr } = spawnSync(join(programs, program), words, {
      ...{ ...user, encoding: 'utf8', cwd: directory },
    });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  }

  function launch(data: string, port: number): ChildProcess {
    const words = [...settings, `port=${port}`, `unix_socket_directories=${directory}`];
    return spawn(
      join(programs, 'postgres'),
      ['-D', data, ...words.flatMap((setting) => ['-c', setting])],
      { ...user, cwd: directory, stdio: 'ignore' },
    );
  }

  async function begin(data: string): Promise<Server> {
    const port = await freePort();
    const child = launch(data, port);
    await untilReady(urlOnPort(port));
    return { data, port, child };
  }

  const folder = (): string => {
    made += 1;
    return join(directory, `data-${made}`);
  };
  const first = folder();
  const words = ['-A', 'trust', '-U', 'kipimo', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8'];
  run('initdb', '-D', first, ...words);
  let primary = await begin(first);
  let standby: Server | undefined;

  async function end({ child }: Server, signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async function pairUp(): Promise<void> {
    standbyLink.lead(primary.port);
    standbyLink.set('open');
    if (standby === undefined) {
      const data = folder();
      const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'kipimo'];
      run('pg_basebackup', ...from, '-D', data, '-c', 'fast', '--no-sync', '-X', 'stream');
      const follow = `primary_conninfo = 'host=127.0.0.1 port=${standbyLink.port} user=kipimo'`;
      // Once it is promoted it waits for nobody, until it is given a standby of its own.
      const alone = `synchronous_standby_names = ''`;
      appendFileSync(join(data, 'postgresql.auto.conf'), `\n${follow}\n${alone}\n`);
      writeFileSync(join(data, 'standby.signal'), '');
      standby = await begin(data);
    }
    const url = urlOnPort(primary.port);
    await onServer(url, `alter system set synchronous_standby_names = '*'`);
    await onServer(url, 'select pg_reload_conf()');
    const find = `select 1 from pg_stat_replication where sync_state = 'sync'`;
    for (let attempt = 0; (await onServer(url, find)).rowCount === 0; attempt += 1) {
      if (attempt > 300) throw new Error('the standby never caught up');
      await wait(50);
    }
  }

  async function restart(signal: NodeJS.Signals): Promise<void> {
    await end(primary, signal);
    for (let attempt = 0; ; attempt += 1) {
      primary.child = launch(primary.data, primary.port);
      const ended = once(primary.child, 'exit').then(() => 'ended' as const);
      const ready = untilReady(urlOnPort(primary.port)).then(() => 'ready' as const);
      // After SIGKILL its children go one after the other, and so long it refuses to start.
      if ((await Promise.race([ended, ready])) === 'ready') return;
      if (attempt > 100) throw new Error('PostgreSQL does not start again');
      await wait(50);
    }
  }

  async function fillDisk(ms: number): Promise<void> {
    const { blocks, bfree, bsize } = statfsSync(directory);
    mount(directory, `remount,size=${(blocks - bfree) * bsize}`);
    await wait(ms);
    mount(directory, 'remount,size=4g');
    // A server that could not write its log of changes has ended, or starts anew by itself.
    const hasEnded = ({ child }: Server) => child.exitCode !== null || child.signalCode !== null;
    if (standby !== undefined && hasEnded(standby)) {
      standby.child = launch(standby.data, standby.port);
    }
    if (hasEnded(primary)) await restart('SIGKILL');
    else await untilReady(urlOnPort(primary.port));
  }

  await pairUp();
  return {
    fillDisk: hasDisk ? fillDisk : undefined,
    restart,
    get port() {
      return primary.port;
    },
    get standbyPort() {
      return standby?.port;
    },
    standbyLink,
    pairUp,
    async promote() {
      if (standby === undefined) throw new Error('there is no standby');
      await end(primary, 'SIGKILL');
      const { data } = primary;
      primary = standby;
      standby = undefined;
      await onServer(urlOnPort(primary.port), 'select pg_promote()');
      rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
    async close() {
      if (standby !== undefined) await end(standby, 'SIGKILL');
      await end(primary, 'SIGKILL');
      await standbyLink.close();
      // Children of a killed server end a moment later.
      if (hasDisk) execFileSync('umount', ['-l', directory]);
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
