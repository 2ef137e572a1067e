// Loaded into the service by bench/loop-holds.ts: how long its main thread is held.
import { renameSync, writeFileSync } from 'node:fs';
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
}

const lookMs = 1;

/** Milliseconds of a processor that this thread has used. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const highest = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Looks at the clock every millisecond; each SIGUSR2 writes what was seen since the one before. */
function watch(file: string): void {
  let held: number[] = [];
  let worked: number[] = [];
  let looks: { readonly from: number; readonly to: number; readonly ms: number }[] = [];
  let collections: PerformanceEntry[] = [];
  const collector = new PerformanceObserver((list) => {
    collections.push(...list.getEntries());
  });
  collector.observe({ entryTypes: ['gc'] });
  let [before, workedBefore] = [performance.now(), threadMs()];
  setInterval(() => {
    const [now, workedNow] = [performance.now(), threadMs()];
    held.push(Math.max(0, now - before - lookMs));
    const ms = Math.min(now - before, workedNow - workedBefore);
    worked.push(ms);
    looks.push({ from: before, to: now, ms });
    [before, workedBefore] = [now, workedNow];
  }, lookMs).unref();
  process.on('SIGUSR2', () => {
    const [holds, works] = [held, worked].map((all) => Float64Array.from(all).sort());
    if (holds === undefined || works === undefined) return;
    collections.push(...collector.takeRecords());
    const took = collections.map(({ duration }) => duration);
    const owned = looks.map(({ from, to, ms }) => {
      const within = collections.filter(({ startTime }) => startTime >= from && startTime < to);
      return within.reduce((left, { duration }) => left - duration, ms);
    });
    const seen: LoopHolds = {
      looks: holds.length,
      ...{ p999: highest(holds, 0.999), max: highest(holds, 1) },
      ...{ workedP999: highest(works, 0.999), workedMax: highest(works, 1) },
      ownMax: owned.reduce((most, ms) => Math.max(most, ms), 0),
      collectedMax: Math.max(0, ...took),
      collected: took.reduce((sum, ms) => sum + ms, 0),
    };
    collections = [];
    looks = [];
    held = [];
    worked = [];
    // Under another name until it is whole: somebody waits for it.
    writeFileSync(`${file}.part`, JSON.stringify(seen));
    renameSync(`${file}.part`, file);
    [before, workedBefore] = [performance.now(), threadMs()];
  });
}

const file = process.env['LOOP_METER_FILE'];
if (isMainThread && file !== undefined) watch(file);
