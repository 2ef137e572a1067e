import { readFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';
import type { ThreadMemory } from '../domain/metrics.ts';
import type { Meters } from './reporter.ts';

type Parts = Readonly<Record<string, number>>;

/**
 * Adds where the memory of the process is, by part, in bytes. `readStorageThread` asks the thread
 * that writes; undefined: there is none, or it has ended.
 */
export function addMemoryMetrics(
  { watchedLater }: Meters,
  readStorageThread: () => Promise<ThreadMemory | undefined>,
): void {
  watchedLater(
    'gauge',
    'kipimo_memory_bytes',
    {
      help:
        'Where the memory is: objects of the main thread, young and old; its heap in all; its ' +
        'buffers; the same of the thread that writes; files that are mapped; and native, ' +
        'which is the rest: SQLite, compression, password hashing, and what the allocator keeps.',
      labels: ['part'],
    },
    async () =>
      Object.entries(partsOf(await readStorageThread())).map(([part, bytes]) => [bytes, { part }]),
  );
}

function partsOf(thread: ThreadMemory | undefined): Parts {
  const { heapTotal, external, arrayBuffers } = process.memoryUsage();
  const held = heapTotal + external + (thread ? thread.heapTotal + thread.external : 0);
  return {
    ...generations(),
    main_heap: heapTotal,
    main_external: external,
    main_array_buffers: arrayBuffers,
    ...(thread && {
      storage_thread_used: thread.heapUsed,
      storage_thread_heap: thread.heapTotal,
      storage_thread_external: thread.external,
    }),
    ...systemParts(held),
  };
}

function generations(): Parts {
  let young = 0;
  let old = 0;
  for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) {
    if (name.startsWith('new_')) young += used;
    else if (!name.startsWith('read_only')) old += used;
  }
  return { main_young: young, main_old: old };
}

/** Reads the memory of this process as Linux reports it; nothing on other systems. */
function systemParts(held: number): Parts {
  const status = readStatus();
  const bytesOf = (field: string): number =>
    1_024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  if (status === '') return {};
  const anonymous = bytesOf('RssAnon');
  return {
    mapped_files: bytesOf('RssFile'),
    // Heaps may hold pages that were never touched.
    native: Math.max(0, anonymous - held),
  };
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
