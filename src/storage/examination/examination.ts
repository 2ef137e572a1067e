import { setTimeout as wait } from 'node:timers/promises';
import type { Finding, Findings } from './checks.ts';
import type { Largest } from './chunk-examination.ts';

/** The results of looking at all that is stored. */
export interface Examination {
  /** Damage first. */
  readonly findings: readonly Finding[];
  /** Whether a service, or another command that needs it alone, uses it. */
  readonly isInUse: boolean;
  /** Of the tables. */
  readonly version: number;
  readonly chunks: number;
  readonly datapointsInChunks: number;
  /** Rows of pushes: of the log of a file, or those of a database that are not in chunks. */
  readonly logRows: number;
  readonly disk: DiskUse | (DiskUse & OwnDisk);
  /** Absent where nothing could be measured. */
  readonly syncs?: SyncRate;
  readonly largest: Largest;
}

/** The disk space that the data takes, and how it grows. */
export interface DiskUse {
  readonly databaseBytes: number;
  /** Datapoints in chunks; absent when there are none. */
  readonly bytesPerDatapoint?: number;
  readonly datapointsPerDay: number;
  readonly bytesPerDay: number;
}

/** The disk of a data directory; that of a database server nobody here knows. */
export interface OwnDisk {
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Of the database: pages that nothing is in. */
  readonly freePagesBytes: number;
  readonly walBytes: number;
  /** Until the free space reaches the floor, at this rate; undefined: it does not grow. */
  readonly daysLeft?: number;
}

/** How long it takes to keep a small write for good. */
export interface SyncRate {
  readonly count: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const pauseMs = 5;
const totalMsMax = 3_000;
const syncMedianMsMax = 50;

/** Writes so many times, for a few seconds at most, and says how long each took. */
export async function measureWrites(
  write: () => Promise<void>,
  writesMax: number,
): Promise<SyncRate> {
  const tookMs: number[] = [];
  const startedAt = performance.now();
  while (tookMs.length < writesMax && performance.now() - startedAt < totalMsMax) {
    const writtenAt = performance.now();
    await write();
    tookMs.push(performance.now() - writtenAt);
    await wait(pauseMs);
  }
  tookMs.sort((one, other) => one - other);
  const quantile = (part: number): number =>
    tookMs[Math.min(tookMs.length - 1, Math.floor(part * tookMs.length))] ?? 0;
  return { count: tookMs.length, medianMs: quantile(0.5), p99Ms: quantile(0.99) };
}

/** Warns where pushes wait for each sync, or each commit. */
export function warnOfSlow(
  { medianMs }: SyncRate,
  what: 'sync' | 'commit',
  { warn }: Pick<Findings, 'warn'>,
  remedy: string,
): void {
  if (medianMs <= syncMedianMsMax) return;
  const sentence = `Every other ${what} takes ${medianMs.toFixed(0)} ms or more`;
  warn('syncs', `${sentence}: pushes wait for it.`, remedy);
}
