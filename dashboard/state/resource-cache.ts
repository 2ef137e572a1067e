/** How many answers are kept for going back without waiting. */
const entriesMax = 100;

const entries = new Map<string, unknown>();

/** What was last loaded under a key on this page. */
export function readResource(key: string): unknown {
  return entries.get(key);
}

export function writeResource(key: string, value: unknown): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= entriesMax) break;
    entries.delete(oldest);
  }
}

/** Somebody else is here now: nothing of before may show. */
export function forgetResources(): void {
  entries.clear();
}
