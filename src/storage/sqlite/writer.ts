import type { DatabaseSync } from 'node:sqlite';
import { type Transferable, Worker } from 'node:worker_threads';
import { DomainError } from '../../domain/errors.ts';
import type { ThreadMemory } from '../../domain/metrics.ts';
import type { Log } from '../../lib/log.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { ChunkLimits } from '../chunks/chunk-store.ts';
import { createWriteHealth, type DamagedRows } from '../faults.ts';
import type { AnswerOf, SqlContext } from '../sql/session.ts';
import type { SqlWrites } from '../sql/writes.ts';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import type { RenewalReport } from './background-renewal.ts';
import { createReader } from './session.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import type { WriteName, WriterAnswer, WriterRequest, Writes } from './writes.ts';

/** The options that the writer thread is started with. */
export interface WriterSetup {
  readonly path: string;
  readonly pagesMax?: number;
  /** How chunks are renewed in the background; absent: they are not. */
  readonly renewal?: ChunkLimits;
}

/** News of work that the thread does without a call. */
interface WriterNews {
  readonly renewal: RenewalReport;
}

/** ready: the database is open. Else the answers of one commit, all at once, or news. */
export type WriterReport = 'ready' | readonly WriterAnswer[] | WriterNews;

/** Whether it is no answer. */
const isNews = (report: readonly WriterAnswer[] | WriterNews): report is WriterNews =>
  'renewal' in report;

/** Calls to the only write connection. One resolves when its commit is synced to disk. */
export type Writer = Awaited<ReturnType<typeof createWriter>>;

/** Who pushes again and again does so within this time. */
const atWorkMs = 10;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Starts the writer thread; resolves when its connection is open. */
export async function createWriter(
  options: WriterSetup & {
    readonly log: Log;
    /** The thread's program; absent: ours. */
    readonly entry?: URL;
    readonly onNews?: (news: WriterNews) => void;
  },
) {
  const { log, entry = threadEntry(), onNews, ...setup } = options;
  const worker = new Worker(entry, {
    workerData: setup satisfies WriterSetup,
    resourceLimits: { maxYoungGenerationSizeMb: sqliteLimits.writerYoungMebibytes },
  });
  const waiting = new Map<number, Waiting>();
  /** Reports that wait for a slice of the event loop. */
  const reports: WriterReport[] = [];
  const slices = createFairSlices({ turnMs: sqliteLimits.answersMs, later: setImmediate });
  const noteHealth = createWriteHealth(log, 'the storage');
  let lastId = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let refusal: string | undefined;

  await started(worker, setup.path);
  // Node hands over what the thread says for as long as it says something. It answers while its
  // last answer is acted on here: without slices, that would be one turn of the event loop.
  worker.on('message', (report: WriterReport) => {
    reports.push(report);
    slices.begin('service', takeNext);
  });
  let failure: unknown;
  // An error overtakes the last answers: they have arrived when the end is told.
  worker.on('error', (error) => {
    failure = error;
  });
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      stop(failure);
      // Behind those who were answered last.
      setImmediate(resolve);
    });
  });

  function takeNext(): void {
    const report = reports.shift();
    if (report !== undefined) take(report);
  }

  function take(report: WriterReport): void {
    if (report === 'ready') return;
    if (isNews(report)) onNews?.(report);
    else for (const answer of report) complete(answer);
  }

  function complete(answer: WriterAnswer): void {
    answeredAt = performance.now();
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.kind === 'done') noteHealth();
    else if (answer.kind === 'refused') noteHealth({ reason: answer.refusal.message });
    if (answer.kind === 'done') caller?.resolve(answer.value);
    else caller?.reject(failureOf(answer));
  }

  // Not started again: what killed it would kill it again, and the supervisor sees ping fail.
  function stop(error: unknown): void {
    while (reports.length > 0) takeNext();
    if (refusal === undefined) log.error({ err: error }, 'the storage thread ended');
    refusal ??= 'the storage has stopped: restart the service';
    for (const caller of waiting.values()) caller.reject(unavailable(refusal));
    waiting.clear();
  }

  function send<Name extends WriteName>(
    name: Name,
    transferList: readonly Transferable[] | undefined,
    args: Parameters<Writes[Name]>,
  ): Promise<Awaited<ReturnType<Writes[Name]>>> {
    if (refusal !== undefined) return Promise.reject(unavailable(refusal));
    if (waiting.size >= sqliteLimits.callsWaitingMax) {
      return Promise.reject(unavailable('too many changes wait for the disk: try again'));
    }
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, name, args } satisfies WriterRequest, transferList);
      // The thread answers what the function of this name returned.
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  return {
    /** Whether changes are written: some are under way, or were a moment ago. */
    isAtWork: () => waiting.size > 0 || performance.now() - answeredAt < atWorkMs,
    /**
     * Throws when nothing was kept: DomainError storage_full when the disk is full, unavailable
     * when the queue is full, the disk fails or the thread is dead.
     */
    call: <Name extends WriteName>(name: Name, ...args: Parameters<Writes[Name]>) =>
      send(name, undefined, args),
    /** Like call, but hands these buffers of the arguments over instead of copying them. */
    callTransfer: <Name extends WriteName>(
      name: Name,
      transferList: readonly Transferable[],
      ...args: Parameters<Writes[Name]>
    ) => send(name, transferList, args),
    /** The memory that the thread holds; undefined when it has ended. */
    memory: () => (refusal === undefined ? memoryOf(worker) : Promise.resolve(undefined)),
    /** Resolves when every call was answered and the connection is closed. */
    close: async () => {
      if (refusal === undefined) {
        refusal = 'the storage is closed';
        worker.postMessage(null satisfies WriterRequest);
      }
      await ended;
    },
  };
}

async function memoryOf(worker: Worker): Promise<ThreadMemory | undefined> {
  try {
    const heap = await worker.getHeapStatistics();
    return {
      heapUsed: heap.used_heap_size,
      heapTotal: heap.total_heap_size,
      external: heap.external_memory,
    };
  } catch {
    // The thread ended in the meantime.
    return undefined;
  }
}

// The build turns .ts into .js, and only import statements are rewritten.
function threadEntry(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./writer-thread.${extension}`, import.meta.url);
}

function started(worker: Worker, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error?: unknown): void => {
      const reason = error instanceof Error ? error.message : 'the storage thread did not start';
      reject(new UnusableStorageError(`${path} cannot be written: ${reason}`, error));
    };
    worker.once('error', refuse);
    worker.once('exit', refuse);
    worker.once('message', () => {
      worker.off('error', refuse);
      worker.off('exit', refuse);
      resolve();
    });
  });
}

function failureOf(answer: Exclude<WriterAnswer, { kind: 'done' }>): Error {
  if (answer.kind === 'refused') {
    const { code, message } = answer.refusal;
    return code === 'unavailable' ? unavailable(message) : new DomainError(code, message);
  }
  const error = new Error(answer.message);
  if (answer.stack !== undefined) error.stack = answer.stack;
  return error;
}

function unavailable(message: string): DomainError {
  return new DomainError('unavailable', message, { retryAfterSeconds: 5 });
}

/** The parts that every store of the engine is made of. */
export interface StoreContext {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly damaged: DamagedRows;
}

/** The parts of stores that both engines have. */
export const sharedContext = ({
  reader,
  writer,
  damaged,
}: StoreContext): SqlContext<SqlWrites> => ({
  reader: createReader(reader, writer.isAtWork),
  // The thread answers what the change of this name answers.
  write: (name, ...args) =>
    writer.call('runShared', name, args) as Promise<AnswerOf<SqlWrites, typeof name>>,
  damaged,
});
