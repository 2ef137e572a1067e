import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How long the disk takes to keep a small write for good. */
export interface SyncRate {
  readonly count: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const writeBytes = 4_096;
const totalMsMax = 3_000;
const pauseMs = 5;

/** Writes so many pages to a file of its own there, each synced alone. Throws what fs throws. */
export async function measureSyncs(directory: string, writesMax: number): Promise<SyncRate> {
  const path = join(directory, `doctor-${process.pid}.tmp`);
  const file = openSync(path, 'wx', 0o600);
  const tookMs: number[] = [];
  try {
    // Gone from the directory at once, where the system can: nothing is left by one that is killed.
    rmSync(path, { force: true });
    const startedAt = performance.now();
    const page = Buffer.alloc(writeBytes, 1);
    while (tookMs.length < writesMax && performance.now() - startedAt < totalMsMax) {
      const writtenAt = performance.now();
      writeSync(file, page);
      fdatasyncSync(file);
      tookMs.push(performance.now() - writtenAt);
      await wait(pauseMs);
    }
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  tookMs.sort((one, other) => one - other);
  const quantile = (part: number): number =>
    tookMs[Math.min(tookMs.length - 1, Math.floor(part * tookMs.length))] ?? 0;
  return { count: tookMs.length, medianMs: quantile(0.5), p99Ms: quantile(0.99) };
}
