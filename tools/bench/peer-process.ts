import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { benchLimits } from './bench-limits.ts';
import { stopChild } from './child-service.ts';

/** A program of others that we compare with, in a process of its own. */
export interface PeerProcess {
  stop(): Promise<void>;
}

/** The first of these places that has the program; undefined: it is not installed. */
export const installed = (name: string): string | undefined =>
  ['/usr/bin', '/usr/local/bin', '/usr/sbin'].map((place) => `${place}/${name}`).find(existsSync);

/** Starts it, and resolves when it answers below 500 on a path of this port. */
export async function startPeer(options: {
  readonly program: string;
  readonly words: readonly string[];
  readonly directory: string;
  readonly healthUrl: string;
}): Promise<PeerProcess> {
  const { program, words, directory, healthUrl } = options;
  const child = spawn(program, words, { cwd: directory, stdio: 'ignore', env: {} });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    await stopChild(child);
    process.removeListener('exit', kill);
  };
  try {
    await requireAnswer(child, program, healthUrl);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function requireAnswer(child: ChildProcess, program: string, url: string): Promise<void> {
  const deadline = performance.now() + benchLimits.startMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response !== undefined && response.status < 500) return;
    await new Promise((resolve) => setTimeout(resolve, benchLimits.askAgainMs));
  }
  throw new Error(`${program} did not start in time`);
}
