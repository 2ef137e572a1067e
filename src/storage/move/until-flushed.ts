import { setTimeout as wait } from 'node:timers/promises';
import { UnusableStorageError } from '../unusable-storage-error.ts';

const pollMs = 20;
/** Datapoints outside chunks are limited in every engine: this is far more than they take. */
const patienceMs = 600_000;

/** Resolves when all datapoints are in chunks. Throws UnusableStorageError when they do not go. */
export async function untilFlushed(isFlushed: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isFlushed())) {
    if (performance.now() > giveUpAt) {
      throw new UnusableStorageError(
        'datapoints cannot be put into chunks: look whether the disk is full',
      );
    }
    await wait(pollMs);
  }
}
