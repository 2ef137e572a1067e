import type { DatabaseSync } from 'node:sqlite';

/**
 * Everything the writer thread can do. Each function runs inside the transaction of its group
 * commit: it throws to undo its own changes, and never begins or commits.
 */
export function createWrites(database: DatabaseSync) {
  return {
    ...createHealthWrites(database),
  };
}

function createHealthWrites(database: DatabaseSync) {
  const countCheck = database.prepare('update health set checks = checks + 1 where id = 1');
  return {
    /** Proves that a change can be made durable. */
    ping(): void {
      countCheck.run();
    },
  };
}

export type Writes = ReturnType<typeof createWrites>;
export type WriteName = keyof Writes;
