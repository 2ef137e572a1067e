// Loaded before each test file of a long run. Threads that write run the one file that
// scripts/pack-writer.ts made of their sources, which TEST_WRITER names, and one thread after its
// end is lent to the next storage: starting a thread of Node takes twice as long as opening a
// database in it. Each storage has the whole program anew, with a port of its own; a thread that
// failed is lent to nobody.
import { EventEmitter } from 'node:events';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  type Transferable,
  type WorkerOptions,
} from 'node:worker_threads';
import type { Loan } from './writer-host.ts';

const load = createRequire(import.meta.url);
const threads: typeof import('node:worker_threads') = load('node:worker_threads');
const { Worker } = threads;
const { href: writerSource } = new URL('../src/storage/sqlite/writer-thread.ts', import.meta.url);
const hostSource = new URL('./writer-host.ts', import.meta.url);

/** Then what earlier storages left in the heap goes with the thread. */
const loansMax = 100;

interface Host {
  readonly thread: InstanceType<typeof Worker>;
  loans: number;
}

const idle: Host[] = [];

/** What the service sees of a thread that was lent to it. */
class LentWriter extends EventEmitter {
  readonly #host: Host;
  readonly #port: MessagePort;

  constructor(options: WorkerOptions) {
    super();
    const { port1, port2 } = new MessageChannel();
    const host = idle.pop() ?? startHost(options);
    this.#host = host;
    this.#port = port1;
    host.loans += 1;
    const fail = (error: unknown): void => void this.emit('error', error);
    const end = (code: number): void => {
      host.thread.off('error', fail).off('message', free).off('exit', end);
      port1.close();
      this.emit('exit', code);
    };
    const free = (): void => {
      giveBack(host);
      end(0);
    };
    host.thread.on('error', fail).on('message', free).on('exit', end);
    port1.on('message', (message) => this.emit('message', message));
    const loan = { port: port2, setup: options.workerData } satisfies Loan;
    host.thread.postMessage(loan, [port2]);
  }

  postMessage(message: unknown, transferList: readonly Transferable[] = []): void {
    this.#port.postMessage(message, transferList);
  }

  getHeapStatistics() {
    return this.#host.thread.getHeapStatistics();
  }
}

function startHost({ resourceLimits }: WorkerOptions): Host {
  // It needs nothing of what test files find loaded.
  const thread = new Worker(hostSource, {
    execArgv: [],
    ...(resourceLimits !== undefined && { resourceLimits }),
  });
  // The port of a loan keeps the process alive.
  thread.unref();
  return { thread, loans: 0 };
}

function giveBack(host: Host): void {
  if (host.loans < loansMax) idle.push(host);
  else void host.thread.terminate();
}

if (isMainThread && process.env['TEST_WRITER'] !== undefined) {
  threads.Worker = new Proxy(Worker, {
    construct(target, given: ConstructorParameters<typeof Worker>, made) {
      const [program, options = {}] = given;
      if (String(program) === writerSource) return new LentWriter(options);
      return Reflect.construct(target, given, made);
    },
  });
  syncBuiltinESMExports();
}
