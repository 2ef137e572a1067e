import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { databasePath, pragmaNumber } from '../../../../src/storage/sqlite/connection.ts';
import { sqliteLimits } from '../../../../src/storage/sqlite/sqlite-limits.ts';
import type { Findings } from '../../examination/checks.ts';
import {
  type DiskUse,
  growthOf,
  measureWrites,
  type OwnDisk,
  type SyncRate,
  warnOfSlow,
} from '../../examination/chunk-examination.ts';
import type { DatapointSizes } from './chunk-checks.ts';

const daysLeftMin = 30;
const mebibyte = 1_048_576;
const freePagesBytesMax = 16 * mebibyte;
/** Inner pages, and the space that rows leave in theirs. */
const pagesPerRows = 1.1;

/** How full the disk is, and when it will be at the rate of the last day or week. */
export function measureDisk(
  database: DatabaseSync,
  options: {
    readonly directory: string;
    readonly sizes: DatapointSizes;
    /** Below this nothing of guests is stored. */
    readonly floorBytes: number;
  },
): DiskUse & OwnDisk {
  const { directory, sizes, floorBytes } = options;
  const pageBytes = pragmaNumber(database, 'page_size');
  const { blocks, bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  const growth = growthOf(sizes, sizes.chunkBytes * pagesPerRows);
  const { bytesPerDay } = growth;
  const wal = `${databasePath(directory)}-wal`;
  return {
    totalBytes: blocks * bsize,
    freeBytes,
    databaseBytes: pragmaNumber(database, 'page_count') * pageBytes,
    freePagesBytes: pragmaNumber(database, 'freelist_count') * pageBytes,
    walBytes: existsSync(wal) ? statSync(wal).size : 0,
    ...growth,
    ...(bytesPerDay > 0 && { daysLeft: Math.max(0, freeBytes - floorBytes) / bytesPerDay }),
  };
}

/** Adds findings on the disk that the operator should act on. */
export function judgeDisk(
  database: DatabaseSync,
  options: {
    readonly disk: DiskUse & OwnDisk;
    readonly syncs: SyncRate | undefined;
    readonly floorBytes: number;
    readonly findings: Findings;
  },
): void {
  const { disk, syncs, floorBytes, findings } = options;
  const { warn } = findings;
  const size = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`;
  if (disk.freeBytes < floorBytes) {
    warn(
      'disk',
      `The disk has ${size(disk.freeBytes)} left; below ${size(floorBytes)} pushes are refused.`,
      'Make room on the disk, or move the data directory to a larger one.',
    );
  } else if (disk.daysLeft !== undefined && disk.daysLeft < daysLeftMin) {
    warn(
      'disk',
      `At the rate of these days the disk is full in ${Math.floor(disk.daysLeft)} days.`,
      'Delete what nobody needs, or move the data directory to a larger disk.',
    );
  }
  const givesBack = pragmaNumber(database, 'auto_vacuum') === 2;
  if (!givesBack && disk.freePagesBytes > freePagesBytesMax) {
    warn(
      'space',
      `${size(disk.freePagesBytes)} of the database are free pages that never go back to the disk.`,
      'Stop the service and run kipimo compact once.',
    );
  }
  if (disk.walBytes > 2 * sqliteLimits.walBytesMax) {
    warn(
      'space',
      `The write-ahead log has ${size(disk.walBytes)}: something reads for a very long time.`,
      'Look for a backup or another program that hangs with kipimo.db open.',
    );
  }
  if (syncs !== undefined) {
    const remedy =
      'Move the data directory to a faster disk, or find out what else keeps this one busy.';
    warnOfSlow(syncs, 'sync', findings, remedy);
  }
}

const writeBytes = 4_096;

/** Writes so many pages to a file of its own there, each synced alone. Throws what fs throws. */
export async function measureSyncs(directory: string, writesMax: number): Promise<SyncRate> {
  const path = join(directory, `doctor-${process.pid}.tmp`);
  const file = openSync(path, 'wx', 0o600);
  try {
    // Gone from the directory at once, where the system can: nothing is left by one that is killed.
    rmSync(path, { force: true });
    const page = Buffer.alloc(writeBytes, 1);
    return await measureWrites(async () => {
      writeSync(file, page);
      fdatasyncSync(file);
    }, writesMax);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}
