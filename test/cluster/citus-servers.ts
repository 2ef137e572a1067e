// Starts a coordinator of Citus with two workers on free ports, and runs a command that finds it:
// node test/cluster/citus-servers.ts npm test. Without a command: says the address, until SIGINT.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgres, type OwnPostgres, onServer, startPostgres } from '../postgres-server.ts';

/** A coordinator with its workers, as PostgreSQL servers of the tests' own. */
export interface CitusServers extends AsyncDisposable {
  /** Of the coordinator's only database. */
  readonly url: string;
  readonly coordinator: OwnPostgres;
  readonly workers: readonly OwnPostgres[];
  close(): Promise<void>;
}

/** Whether the extension is installed: Debian has no package of it (docs/scale.md). */
export const hasCitus = (): boolean =>
  existsSync(join(findPostgres() ?? '', '../lib/citus.so')) && findPostgres() !== undefined;

/** A commit whose coordinator or worker was killed half-way is ended a second after the start. */
const settings = [
  ...['shared_preload_libraries=citus', 'citus.recover_2pc_interval=1s'],
  ...['citus.enable_stat_counters=on'],
  // What goes to more than one part is told in the log.
  ...['logging_collector=on', 'citus.multi_task_query_log_level=log', 'log_line_prefix=%a '],
  ...['citus.node_conninfo=sslmode=disable', 'max_prepared_transactions=600'],
];

const portOf = ({ url }: OwnPostgres): string => new URL(url).port;

/** Makes the servers and starts them. */
export async function startCitus(
  options: {
    readonly workers?: number;
    readonly parts?: number;
    readonly isDurable?: boolean;
  } = {},
): Promise<CitusServers> {
  const { workers: count = 2, parts = 8, isDurable = false } = options;
  const start = () => startPostgres({ isDurable, more: settings });
  const servers = await Promise.all(Array.from({ length: count + 1 }, start));
  const [coordinator, ...workers] = servers;
  if (coordinator === undefined) throw new Error('there is no coordinator');
  for (const { url } of servers) await onServer(url, 'create extension citus');
  const { url } = coordinator;
  await onServer(url, `select citus_set_coordinator_host('127.0.0.1', ${portOf(coordinator)})`);
  for (const worker of workers) {
    await onServer(url, `select citus_add_node('127.0.0.1', ${portOf(worker)})`);
  }
  await onServer(url, `alter database postgres set citus.shard_count = ${parts}`);
  async function close(): Promise<void> {
    for (const server of servers) await server.close();
  }
  return { url, coordinator, workers, close, [Symbol.asyncDispose]: close };
}

async function main([command, ...words]: readonly string[]): Promise<void> {
  const servers = await startCitus();
  const { url } = servers;
  if (command === undefined) {
    process.stdout.write(`KIPIMO_TEST_CITUS_URL=${url}\n`);
    await once(process, 'SIGINT');
  } else {
    const env = { ...process.env, KIPIMO_TEST_CITUS_URL: url };
    const child = spawn(command, words, { env, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    process.exitCode = code ?? 1;
  }
  await servers.close();
}

if (import.meta.main) await main(process.argv.slice(2));
