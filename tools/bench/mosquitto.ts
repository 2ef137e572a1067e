import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { benchLimits } from './bench-limits.ts';
import { stopChild } from './child-service.ts';
import { freePort } from './free-port.ts';

/** The broker that MQTT is compared with, in a process of its own. */
export interface Mosquitto {
  readonly port: number;
  readonly pid: number;
  [Symbol.asyncDispose](): Promise<void>;
}

const places = ['/usr/sbin/mosquitto', '/usr/bin/mosquitto', '/usr/local/sbin/mosquitto'];

/** Starts Mosquitto with everything in memory and nothing to log; undefined: not installed. */
export async function startMosquitto(directory: string): Promise<Mosquitto | undefined> {
  const program = places.find(existsSync);
  if (program === undefined) return undefined;
  const port = await freePort();
  const file = join(directory, 'mosquitto.conf');
  writeFileSync(file, settings(port));
  const child = spawn(program, ['-c', file], { cwd: directory, stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    await stopChild(child);
    process.removeListener('exit', kill);
  };
  try {
    await requireListening(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, pid: child.pid ?? 0, [Symbol.asyncDispose]: stop };
}

/** No limits that would slow it down: the comparison is with the broker at its best. */
const settings = (port: number): string =>
  [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'max_queued_messages 0',
    'max_inflight_messages 0',
    'log_dest none',
    // Started by root, it would change into a user who cannot read this folder.
    ...(process.getuid?.() === 0 ? ['user root'] : []),
    '',
  ].join('\n');

async function requireListening(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + benchLimits.startMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`mosquitto ended with code ${child.exitCode}`);
    if (await listens(port)) return;
    await new Promise((resolve) => setTimeout(resolve, benchLimits.askAgainMs));
  }
  throw new Error('mosquitto did not start in time');
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
