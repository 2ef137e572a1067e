import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Disk } from '../domain/budgets/storage-quotas.ts';
import type { Log } from '../lib/log.ts';

const lookMs = 1_000;

/** For engines whose data is not on a disk of this machine. */
export const noDisk: Disk = { freeBytes: () => undefined, sizeBytes: undefined };

/** The disk that a directory is on; checked once a second at most, and only when asked. */
export function watchDisk(directory: string, log: Log): Disk {
  let free: number | undefined;
  let sizeBytes: number | undefined;
  let lookedAt = performance.now();
  let isFailing = false;
  let isLooking = false;

  function tell(error: unknown): void {
    free = undefined;
    if (!isFailing) log.warn({ err: error, directory }, 'the free space of the disk is unknown');
    isFailing = true;
  }

  async function look(): Promise<void> {
    isLooking = true;
    try {
      const { bavail, bsize } = await statfs(directory);
      free = bavail * bsize;
      isFailing = false;
    } catch (error) {
      tell(error);
    } finally {
      isLooking = false;
      lookedAt = performance.now();
    }
  }

  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    free = bavail * bsize;
    sizeBytes = blocks * bsize;
  } catch (error) {
    tell(error);
  }
  return {
    sizeBytes,
    freeBytes() {
      if (!isLooking && performance.now() - lookedAt > lookMs) void look();
      return free;
    },
  };
}
