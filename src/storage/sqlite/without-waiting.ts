import type { DatabaseSync } from 'node:sqlite';
import { sqliteLimits } from './sqlite-limits.ts';

/**
 * Does what can wait for another time on the connection of the writer: where another process writes
 * it throws at once. `synced later`: commits of it are safe, and durable with the next one that is.
 */
export function withoutWaiting<Result>(
  database: DatabaseSync,
  how: 'synced' | 'synced later',
  work: () => Result,
): Result {
  const isLater = how === 'synced later';
  database.exec(`pragma busy_timeout = 0; ${isLater ? 'pragma synchronous = normal' : ''}`);
  try {
    return work();
  } finally {
    database.exec(
      `${isLater ? 'pragma synchronous = full;' : ''}
       pragma busy_timeout = ${sqliteLimits.busyTimeoutMs}`,
    );
  }
}
