import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { benchLimits } from './bench-limits.ts';

/** A server in a process of its own. */
export interface ChildService {
  /** For instance http://127.0.0.1:40123. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** From its start to the first 200 of /healthz. */
  readonly readyMs: number;
  /** Asks it to stop, and makes it when it does not; resolves when it is gone. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts this program with other words, on the same Node, and waits until it is ready. */
export async function startChildService(options: {
  readonly words: readonly string[];
  readonly directory: string;
  /** All of its environment: what is set around the benchmark must not change it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The launcher of another version; absent: our own. */
  readonly program?: string;
}): Promise<ChildService> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [options.program ?? programPath(), ...options.words], {
    cwd: options.directory,
    env: { ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    await stopChild(child);
    process.removeListener('exit', kill);
  };
  try {
    const url = await readUrl(child);
    await requireHealthy(url);
    const readyMs = performance.now() - startedAt;
    const port = Number(new URL(url).port);
    return { url, port, pid: child.pid ?? 0, readyMs, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The launcher, so that what is measured starts as its users start it. */
function programPath(): string {
  return join(import.meta.dirname, '..', '..', 'bin', 'kipimo.js');
}

/** Both servers tell where they listen as the key "url" of a JSON line. */
async function readUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  const read = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-benchLimits.outputCharactersMax);
    const [, url] = /"url":"(http:[^"]+)"/.exec(output) ?? [];
    if (url !== undefined) resolve(url);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('error', reject);
  child.once('exit', () => reject(new Error(`a server did not start: ${output.trim()}`)));
  const late = setTimeout(
    () => reject(new Error('a server did not start in time')),
    benchLimits.startMs,
  );
  return promise.finally(() => clearTimeout(late));
}

async function requireHealthy(url: string): Promise<void> {
  const { status } = await fetch(`${url}/healthz`);
  if (status !== 200) throw new Error(`${url}/healthz answered ${status}`);
}

/** Asks a process to end, and makes it when it does not; resolves when it is gone. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const impatience = setTimeout(() => child.kill('SIGKILL'), benchLimits.stopMs);
  child.stdin?.end();
  child.kill('SIGTERM');
  await gone;
  clearTimeout(impatience);
}
