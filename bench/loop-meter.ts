// Loaded into the service by bench/loop-holds.ts: how long its main thread is held.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** How long the loop was held at a time, in ms, from one look of the meter to the next. */
export interface LoopHolds {
  readonly looks: number;
  readonly p999: number;
  readonly max: number;
  /** What of it this thread worked itself; the rest others had the processor. */
  readonly workedP999: number;
  readonly workedMax: number;
  /** The same without the collections of garbage that fell into it. */
  readonly ownMax: number;
  /** The longest collection of garbage, and all of them together. */
  readonly collectedMax: number;
  readonly collected: number;
  /** The looks that took longest by the clock, the longest first. */
  readonly longest: readonly LongLook[];
}

/** Where the time of a look went, in ms; what is neither worked nor waited it slept. */
export interface LongLook {
  /** Since the process began. */
  readonly from: number;
  readonly took: number;
  readonly worked: number;
  /** How long the thread could have run, but others had the processors. */
  readonly waited: number;
  readonly collected: number;
}

const lookMs = 1;
/** As many of the longest looks are told in detail. */
const longLooks = 5;

/** Milliseconds of a processor that this thread has used. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds that the main thread waited for a processor, as Linux counts them; elsewhere 0. */
function createWaited(): () => number {
  const read = Buffer.alloc(128);
  try {
    const file = openSync('/proc/self/schedstat', 'r');
    return () => {
      const text = read.toString('latin1', 0, readSync(file, read, 0, read.length, 0));
      return Number(text.split(' ')[1]) / 1_000_000;
    };
  } catch {
    return () => 0;
  }
}

const highest = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/**
 * Adds to each look the collections that began in it. One pass over both: its time is part of what
 * the service's own metric sees.
 */
function withCollections(
  looks: readonly Omit<LongLook, 'collected'>[],
  collections: readonly PerformanceEntry[],
): LongLook[] {
  const inOrder = collections.toSorted((a, b) => a.startTime - b.startTime);
  let next = 0;
  return looks.map((look) => {
    let collected = 0;
    for (let one = inOrder[next]; one !== undefined; one = inOrder[next]) {
      if (one.startTime >= look.from + look.took) break;
      if (one.startTime >= look.from) collected += one.duration;
      next += 1;
    }
    return { ...look, collected };
  });
}

/** Looks at the clock every millisecond; each SIGUSR2 writes what was seen since the one before. */
function watch(file: string): void {
  let held: number[] = [];
  let worked: number[] = [];
  let looks: Omit<LongLook, 'collected'>[] = [];
  let collections: PerformanceEntry[] = [];
  const collector = new PerformanceObserver((list) => {
    collections.push(...list.getEntries());
  });
  collector.observe({ entryTypes: ['gc'] });
  const waited = createWaited();
  const read = () => [performance.now(), threadMs(), waited()] as const;
  let [before, workedBefore, waitedBefore] = read();
  setInterval(() => {
    const [now, workedNow, waitedNow] = read();
    held.push(Math.max(0, now - before - lookMs));
    const ms = Math.min(now - before, workedNow - workedBefore);
    worked.push(ms);
    const took = now - before;
    looks.push({ from: before, took, worked: ms, waited: waitedNow - waitedBefore });
    [before, workedBefore, waitedBefore] = [now, workedNow, waitedNow];
  }, lookMs).unref();
  process.on('SIGUSR2', () => {
    const [holds, works] = [held, worked].map((all) => Float64Array.from(all).sort());
    if (holds === undefined || works === undefined) return;
    collections.push(...collector.takeRecords());
    const took = collections.map(({ duration }) => duration);
    const seenLooks = withCollections(looks, collections);
    const longest = [...seenLooks].sort((a, b) => b.took - a.took).slice(0, longLooks);
    const seen: LoopHolds = {
      looks: holds.length,
      ...{ p999: highest(holds, 0.999), max: highest(holds, 1) },
      ...{ workedP999: highest(works, 0.999), workedMax: highest(works, 1) },
      ownMax: seenLooks.reduce((most, look) => Math.max(most, look.worked - look.collected), 0),
      collectedMax: Math.max(0, ...took),
      collected: took.reduce((sum, ms) => sum + ms, 0),
      longest,
    };
    collections = [];
    looks = [];
    held = [];
    worked = [];
    // Under another name until it is whole: somebody waits for it.
    writeFileSync(`${file}.part`, JSON.stringify(seen));
    renameSync(`${file}.part`, file);
    [before, workedBefore, waitedBefore] = read();
  });
}

const file = process.env['LOOP_METER_FILE'];
if (isMainThread && file !== undefined) watch(file);
