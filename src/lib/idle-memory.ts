import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Actions of a thread that comes to rest, and of one that has much to do again. */
export interface IdleMemoryParts {
  /** The fraction of the time since the last call in which the thread was busy, from 0 to 1. */
  readonly busyShare: () => number;
  readonly save: () => void;
  readonly stopSaving: () => void;
  /** Number of checks in a row that must find the thread at rest. */
  readonly quietLooks: number;
}

const lookMs = 5_000;
const quietShareMax = 0.03;
const busyShareMin = 0.1;
/** Then V8 has collected, step by step, what it began to collect. */
const flushMs = 60_000;

/**
 * Answers a function to be called now and then: it saves once a thread has had next to nothing to
 * do for a few checks, and stops when there is much to do, since freed memory would be taken again.
 */
export function createIdleMemory(parts: IdleMemoryParts): () => void {
  let quiet = 0;
  let isSaving = false;
  return () => {
    const share = parts.busyShare();
    quiet = share <= quietShareMax ? quiet + 1 : 0;
    if (!isSaving && quiet >= parts.quietLooks) {
      isSaving = true;
      parts.save();
    } else if (isSaving && share >= busyShareMin) {
      isSaving = false;
      parts.stopSaving();
    }
  };
}

/**
 * From now on the memory of this process goes back to the system while it is at rest. Once at rest,
 * V8 is set to favour memory over speed, and the heap is collected once, in a piece of some 30 ms:
 * V8 goes on by itself, in small steps, until no pages are free. The first time, code that only the
 * start has run goes as well. To be called by the main thread, before others are started.
 */
export function saveMemoryWhileIdle(): void {
  // For threads that are started: see `saveThreadMemoryWhileIdle`.
  setFlagsFromString('--expose-gc');
  let isFirst = true;
  watch({
    quietLooks: 3,
    save() {
      setFlagsFromString('--optimize-for-size');
      if (isFirst) setFlagsFromString('--stress-flush-code');
      // The global of a context that was made before the flag was set has none.
      const collect: unknown = runInNewContext('gc');
      if (typeof collect === 'function') collect();
      if (isFirst) setTimeout(() => setFlagsFromString('--no-stress-flush-code'), flushMs).unref();
      isFirst = false;
    },
    stopSaving() {
      setFlagsFromString('--no-stress-flush-code');
      setFlagsFromString('--no-optimize-for-size');
    },
  });
}

/**
 * The same for a thread, a check later than the main one; where that does not save, nothing is
 * done. `giveBack` frees its memory besides the heap.
 */
export function saveThreadMemoryWhileIdle(giveBack: () => void): void {
  const collect: unknown = Reflect.get(globalThis, 'gc');
  if (typeof collect !== 'function') return;
  watch({
    quietLooks: 4,
    save() {
      giveBack();
      collect();
    },
    stopSaving: () => undefined,
  });
}

/** Answers what to call now and then: it collects once so many more bytes are outside the heap. */
export function createExternalBound(parts: {
  readonly externalBytes: () => number;
  readonly growthBytesMax: number;
  readonly collect: () => void;
}): () => void {
  let before = parts.externalBytes();
  return () => {
    const now = parts.externalBytes();
    // Memory that was freed meanwhile does not allow for more growth.
    before = Math.min(before, now);
    if (now - before <= parts.growthBytesMax) return;
    parts.collect();
    before = parts.externalBytes();
  };
}

/**
 * Collects the heap of this thread when the memory that its objects hold outside of it has grown by
 * so many bytes: V8 counts that little, and a thread with few objects would leave it for hours.
 */
export function boundThreadMemory(growthBytesMax: number): void {
  const collect: unknown = Reflect.get(globalThis, 'gc');
  if (typeof collect !== 'function') return;
  const externalBytes = (): number => getHeapStatistics().external_memory;
  const look = createExternalBound({ externalBytes, growthBytesMax, collect: () => collect() });
  setInterval(look, lookMs).unref();
}

function watch(parts: Omit<IdleMemoryParts, 'busyShare'>): void {
  let before = performance.eventLoopUtilization();
  const look = createIdleMemory({
    ...parts,
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  });
  setInterval(look, lookMs).unref();
}
