import { exact, readJson } from '../api/long-numbers.ts';
import type { TextStore } from '../api/session-store.ts';

/** Together at most this many characters of a browser's few million. */
const charactersMax = 1_500_000;
const entriesMax = 40;

const prefix = 'kipimo.known.';
const indexKey = 'kipimo.known';

/** An answer as it was when it last could be had. */
export interface LastKnown {
  readonly value: unknown;
  readonly at: number;
}

interface IndexEntry {
  readonly key: string;
  readonly size: number;
}

/** Keeps what was last known for the time without network; the oldest goes first. */
export function createLastKnown(store: TextStore) {
  const readIndex = (): readonly IndexEntry[] => {
    try {
      const found: unknown = JSON.parse(store.getItem(indexKey) ?? '[]');
      return Array.isArray(found) ? (found as readonly IndexEntry[]) : [];
    } catch {
      return [];
    }
  };

  return {
    async read(key: string): Promise<LastKnown | undefined> {
      try {
        const text = store.getItem(prefix + key);
        return text === null ? undefined : ((await readJson(text)) as LastKnown);
      } catch {
        return undefined;
      }
    },
    write(key: string, known: LastKnown): void {
      const text = exact.json(known);
      if (text.length > charactersMax / 2) return;
      const index = [
        ...readIndex().filter((entry) => entry.key !== key),
        { key, size: text.length },
      ];
      let total = index.reduce((sum, { size }) => sum + size, 0);
      while (index.length > entriesMax || total > charactersMax) {
        const oldest = index.shift();
        if (oldest === undefined) break;
        total -= oldest.size;
        store.removeItem(prefix + oldest.key);
      }
      try {
        store.setItem(prefix + key, text);
        store.setItem(indexKey, JSON.stringify(index));
      } catch {
        // Full: what is there stays, and this answer is not kept.
      }
    },
    forget(): void {
      // Two pages that write at once leave entries behind that the index does not name.
      for (const key of Object.keys(store)) if (key.startsWith(indexKey)) store.removeItem(key);
    },
  };
}

/** What this browser knows; undefined where it keeps nothing. */
export function lastKnown(): ReturnType<typeof createLastKnown> | undefined {
  try {
    return createLastKnown(localStorage);
  } catch {
    return undefined;
  }
}

/** Whoever logs out leaves nothing behind. */
export function forgetLastKnown(): void {
  lastKnown()?.forget();
}
