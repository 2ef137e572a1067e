import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './postgres-server.ts';

/** A NATS server of the tests' own, on a free port of 127.0.0.1. */
export interface NatsServer {
  readonly url: string;
  /** Ends it as a crash does. */
  stop(): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
}

/** Whether Debian's package nats-server is installed. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0;

const startMsMax = 10_000;

/** Starts one; whoever starts it stops it. */
export async function startNats(): Promise<NatsServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> | undefined;

  async function start(): Promise<void> {
    const words = ['--addr', '127.0.0.1', '--port', `${port}`];
    child = spawn('nats-server', words, { stdio: 'ignore' });
    ended = once(child, 'exit');
    const until = performance.now() + startMsMax;
    while (!(await answers(port))) {
      if (performance.now() > until) throw new Error('nats-server does not start');
      await wait(20);
    }
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    async stop() {
      child?.kill('SIGKILL');
      await ended;
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
