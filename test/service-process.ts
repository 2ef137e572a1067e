import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { engineEnvironment } from './engine.ts';

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** A start on a busy machine; who waits longer than this waits in vain. */
const startMsMax = 30_000;

export interface ProcessOptions {
  /** The file to start; absent: this version's. */
  readonly program?: string;
  readonly directory: string;
  /** KIPIMO_… keys beside those that every test process gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** For Node itself, for instance a bound of the heap. */
  readonly nodeFlags?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The program itself, serving in a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly mqttUrl: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** What it wrote to standard output so far. */
  output(): string;
  /** undefined while it runs. */
  exitCode(): number | undefined;
  /** What it wrote to standard error so far. */
  errors(): string;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts `kipimo serve` and resolves when it listens. Throws what it said when it does not. */
export async function startProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { child, exited, output, errors } = openProgram(['serve'], options);
  const { url, mqttUrl } = await new Promise<Addresses>((resolve, reject) => {
    const impatience = setTimeout(() => reject(new Error('it never listened')), startMsMax);
    const settle = (act: () => void) => {
      clearTimeout(impatience);
      act();
    };
    child.stdout.on('data', () => {
      const found = addressesIn(output());
      if (found !== undefined) settle(() => resolve(found));
    });
    exited.then(({ code }) => {
      settle(() => reject(new Error(`it left with ${code}: ${errors()}${output()}`)));
    }, reject);
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    url,
    mqttUrl,
    // It listens, so it was spawned.
    pid: child.pid ?? 0,
    exited,
    output,
    errors,
    exitCode: () => child.exitCode ?? undefined,
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Runs the program to its end. */
export async function runProgram(
  words: readonly string[],
  options: ProcessOptions,
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const { child, exited, output, errors } = openProgram(words, options);
  const impatience = setTimeout(() => child.kill('SIGKILL'), startMsMax);
  const exit = await exited;
  clearTimeout(impatience);
  return { ...exit, stdout: output(), stderr: errors() };
}

/** Starts the program; who starts it waits for its end, or ends it. */
export function openProgram(words: readonly string[], options: ProcessOptions) {
  const { program = mainFile, directory, environment, nodeFlags = [] } = options;
  const child = spawn(process.execPath, [...nodeFlags, program, ...words], {
    // No .env of a developer can get in the way here.
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      KIPIMO_HOST: '127.0.0.1',
      KIPIMO_HTTP_PORT: '0',
      KIPIMO_MQTT_PORT: '0',
      KIPIMO_DATA_DIR: directory,
      ...engineEnvironment(directory),
      ...(process.env['TEST_FAST_PATH'] !== undefined && {
        KIPIMO_SHORT_WAY: process.env['TEST_FAST_PATH'],
      }),
      ...environment,
    },
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
  return { child, exited, output: () => output, errors: () => errors };
}

interface Addresses {
  readonly url: string;
  readonly mqttUrl: string;
}

/** The addresses in the log line that says where the service listens. */
function addressesIn(output: string): Addresses | undefined {
  const lines = output.split('\n').slice(0, -1);
  for (const line of lines.filter((text) => text.startsWith('{'))) {
    const { msg, url, mqttUrl } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (msg !== 'listening' || typeof url !== 'string') continue;
    return { url, mqttUrl: String(mqttUrl) };
  }
  return undefined;
}
