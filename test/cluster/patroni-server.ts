import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, owner } from '../postgres-server.ts';
import { configurationFor } from './patroni-config.ts';
import { familyOf, signalAll } from './process-family.ts';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

/** PostgreSQL, and Patroni, which looks after it, as on a machine of their own. */
export interface PatroniServer {
  readonly name: string;
  /** Of PostgreSQL, and of what Patroni is asked. */
  readonly port: number;
  readonly apiPort: number;
  /** From its Patroni to etcd. */
  readonly etcdLink: TcpProxy;
  /** From the other servers to its PostgreSQL. */
  readonly serverLink: TcpProxy;
  start(): void;
  /** Ends all of its processes, as when the power fails. */
  kill(): void;
  /** Lets all of its processes stand still until `wake`. */
  stop(): void;
  wake(): void;
  /** Patroni's last words. */
  log(): string;
  close(): Promise<void>;
}

const logShown = 2_000;

/** Prepares a server in a folder of its own; `start` starts it. */
export async function openServer(
  name: string,
  parent: string,
  etcdPort: number,
): Promise<PatroniServer> {
  const directory = join(parent, name);
  const user = owner();
  mkdirSync(directory);
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const [port, apiPort] = [await freePort(), await freePort()];
  const etcdLink = await openProxy(etcdPort);
  const serverLink = await openProxy(port);
  const file = join(directory, 'patroni.yml');
  const links = { linkPort: serverLink.port, etcdPort: etcdLink.port };
  writeFileSync(file, configurationFor({ name, directory, port, apiPort, ...links }));
  const logFile = join(directory, 'patroni.log');
  let patroni: ChildProcess | undefined;

  /** It is no child of Patroni; undefined: it does not run, and its number may be another's. */
  function postgresId(): number | undefined {
    const data = join(directory, 'data');
    try {
      const [line = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      const words = readFileSync(`/proc/${Number(line)}/cmdline`, 'utf8');
      return words.includes(data) ? Number(line) : undefined;
    } catch {
      return undefined;
    }
  }

  // Who would start others stands first.
  const processes = (): readonly number[] => [...familyOf(patroni?.pid), ...familyOf(postgresId())];

  function kill(): void {
    // What was just being made is found the second time.
    for (let round = 0; round < 2; round += 1) signalAll(processes(), 'SIGKILL');
  }

  // Nobody else would end them.
  process.once('exit', kill);
  return {
    ...{ name, port, apiPort, etcdLink, serverLink, kill },
    start() {
      const log = openSync(logFile, 'a');
      patroni = spawn('patroni', [file], {
        ...{ ...user, cwd: directory, stdio: ['ignore', log, log] },
        env: { PATH: process.env['PATH'], HOME: directory, LANG: 'C.UTF-8' },
      });
      closeSync(log);
    },
    stop() {
      signalAll(familyOf(patroni?.pid), 'SIGSTOP');
      for (let round = 0; round < 2; round += 1) signalAll(processes(), 'SIGSTOP');
    },
    wake() {
      // First those that answer clients: nobody has told them yet that they are replaced.
      signalAll(processes().toReversed(), 'SIGCONT');
    },
    log: () => readFileSync(logFile, 'utf8').slice(-logShown),
    async close() {
      process.off('exit', kill);
      kill();
      await etcdLink.close();
      await serverLink.close();
    },
  };
}
