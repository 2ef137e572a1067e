import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

/** A PostgreSQL server of the tests' own, on a free port of 127.0.0.1. */
export interface PostgresServer {
  /** Of its only database. */
  readonly url: string;
  close(): Promise<void>;
}

/** One that this process started, and may stop and start. */
export interface OwnPostgres extends PostgresServer {
  /** Ends it: SIGINT tells its clients, SIGQUIT does not, SIGKILL is as a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Starts it again, on the same port and data; resolves when it takes connections. */
  start(): Promise<void>;
}

/** Where Debian keeps the programs of the newest version; undefined: it is not installed. */
export function findPostgres(): string | undefined {
  const folders = globSync('/usr/lib/postgresql/*/bin');
  const version = (folder: string) => Number(folder.split('/').at(-2));
  return folders.sort((a, b) => version(b) - version(a))[0];
}

/** Whether tests on PostgreSQL can run, and are wanted. */
export const hasPostgres = (): boolean =>
  process.env['TEST_POSTGRES'] !== 'off' && findPostgres() !== undefined;

/** The server refuses to run as root: who it runs as then. */
export function owner(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (word: string) => Number(spawnSync('id', [word, 'postgres']).stdout.toString());
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Why a test is left out where the data plane is in parts; false: it is in none. */
export const isInParts: string | false =
  process.env['KIPIMO_TEST_CITUS_URL'] !== undefined && 'needs triggers or a version of before';

/** The server that TEST_POSTGRES_URL names, which stays, or one of this process alone. */
export async function sharedPostgres(): Promise<PostgresServer> {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) return startPostgres();
  return { url, close: async () => undefined };
}

/** What is not synced survives a killed process all the same. */
const quick = ['fsync=off', 'full_page_writes=off', 'shared_buffers=64MB'];
/** As a server that loses nothing when the power fails, with the memory of a small machine. */
const durable = ['fsync=on', 'full_page_writes=on', 'shared_buffers=256MB'];

/**
 * Makes a cluster and starts it; one of tests is quick, one that is measured is durable. `more`:
 * further settings of the server.
 */
export async function startPostgres({
  isDurable = false,
  more = [],
}: {
  readonly isDurable?: boolean;
  readonly more?: readonly string[];
} = {}): Promise<OwnPostgres> {
  const programs = findPostgres();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-postgres-'));
  const user = owner();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const cluster = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'kipimo', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8'],
    { ...user, encoding: 'utf8' },
  );
  if (cluster.status !== 0) throw new Error(`initdb failed: ${cluster.stderr}`);
  const port = await freePort();
  const settings = [
    ...['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${directory}`],
    ...(isDurable ? durable : quick),
    ...['max_connections=300', 'autovacuum_naptime=60s', 'max_wal_size=2GB', 'jit=off'],
    ...more,
  ];
  const url = `postgres://kipimo@127.0.0.1:${port}/postgres`;
  const words = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  let server = spawn(join(programs, 'postgres'), words, { ...user, stdio: 'ignore' });
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  await untilReady(url);
  return {
    url,
    stop,
    async start() {
      for (let attempt = 0; ; attempt += 1) {
        server = spawn(join(programs, 'postgres'), words, { ...user, stdio: 'ignore' });
        // After SIGKILL its children go one after the other, and so long it refuses to start.
        const ended = once(server, 'exit').then(() => 'ended' as const);
        const ready = untilReady(url).then(() => 'ready' as const);
        if ((await Promise.race([ended, ready])) === 'ready') return;
        if (attempt > 100) throw new Error('PostgreSQL does not start again');
        await wait(50);
      }
    },
    async close() {
      await stop('SIGINT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A port of 127.0.0.1 that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** Resolves when the server takes connections. */
export async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await onServer(url, 'select 1');
      return;
    } catch (error) {
      if (attempt > 200) throw error;
      await wait(50);
    }
  }
}

/** Runs SQL on a connection of its own. */
export async function onServer(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The URL of a schema of that name, which is a database of its own for Kipimo; made if missing. */
export async function schemaUrl(url: string, name: string): Promise<string> {
  await onServer(url, `create schema if not exists "${name}"`);
  return inSchema(url, name);
}

/** Schemas that this process made: making one again would start a program for nothing. */
const made = new Set<string>();

/** The same at once, for whoever cannot wait. */
export function schemaUrlNow(url: string, name: string): string {
  if (made.has(name)) return inSchema(url, name);
  const psql = join(findPostgres() ?? '', 'psql');
  const words = ['-q', '-c', `create schema if not exists "${name}"`, url];
  const ended = spawnSync(psql, words, { encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`no schema was made: ${ended.stderr}`);
  made.add(name);
  return inSchema(url, name);
}

/** The same for a schema that is there. */
export function inSchema(url: string, name: string): string {
  return `${url}?options=${encodeURIComponent(`-c search_path=${name}`)}`;
}

/** Empties all tables of a schema, but for what a start finds there. */
export async function emptySchema(url: string): Promise<void> {
  await onServer(
    url,
    `do $$ declare name text; begin
      for name in select tablename from pg_tables where schemaname = current_schema()
        and tablename not in ('writers', 'schema_version')
        order by tablename = 'list_counts' loop
        begin
          execute format('delete from %I', name);
        exception when foreign_key_violation then null;
        end;
      end loop;
    end $$`,
  );
}
