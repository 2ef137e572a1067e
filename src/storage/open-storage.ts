import type { Reporter } from '../domain/reporter.ts';
import type { Log } from '../lib/log.ts';
import type { Storage } from './storage.ts';

export interface StorageOptions {
  /** Engine that keeps the data. */
  readonly kind: 'sqlite' | 'postgres';
  /** Where an engine that has files keeps them. */
  readonly directory: string;
  /** Where the database is, with its password; for postgres. */
  readonly url?: string;
  readonly log: Log;
  readonly reporter: Reporter;
  /** Whether others serve the same database at once; for postgres. */
  readonly serving?: 'alone' | 'shared';
  /** What serves, for people: a version; for postgres. */
  readonly program?: string;
  /** Called once when another process has taken this one's place; for postgres. */
  readonly onReplaced?: (reason: string) => void;
}

/** Opens the chosen engine. Throws UnusableStorageError when a person has to mend something. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  switch (options.kind) {
    case 'sqlite': {
      const { openSqlite } = await import('./sqlite/sqlite-storage.ts');
      return openSqlite(options);
    }
    case 'postgres': {
      const { openPostgres } = await import('./postgres/postgres-storage.ts');
      return openPostgres({ ...options, url: options.url ?? '' });
    }
  }
}
