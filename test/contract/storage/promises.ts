import { test } from 'node:test';
import type { Storage } from '../../../src/storage/storage.ts';

/** Opens an engine without any data; whoever asked closes it. */
export type OpenEmptyStorage = () => Promise<Storage>;

/** What engines promise: a sentence, and the proof that an engine without data keeps it. */
export type Promises = Readonly<Record<string, (storage: Storage) => Promise<void>>>;

/** Makes one test of each promise, with a storage of its own that `prepare` filled. */
export function testPromises(
  promises: Promises,
  openEmptyStorage: OpenEmptyStorage,
  prepare: (storage: Storage) => Promise<void> = async () => undefined,
): void {
  for (const [sentence, prove] of Object.entries(promises)) {
    test(sentence, async () => {
      const storage = await openEmptyStorage();
      try {
        await prepare(storage);
        await prove(storage);
      } finally {
        await storage.close();
      }
    });
  }
}
