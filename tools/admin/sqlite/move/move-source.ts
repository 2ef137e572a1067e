import { realpathSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../../../src/lib/log.ts';
import { decodePushes } from '../../../../src/storage/chunks/datapoint-log.ts';
import { createSelection, openConnection } from '../../../../src/storage/sqlite/connection.ts';
import { lockDirectory } from '../../../../src/storage/sqlite/directory-lock.ts';
import { ensureInstallationSecret } from '../../../../src/storage/sqlite/installation-secret.ts';
import { openSqlite } from '../../../../src/storage/sqlite/sqlite-storage.ts';
import { datapointLimits } from '../../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import { UnusableStorageError } from '../../../../src/storage/unusable-storage-error.ts';
import { type MoveSource, untilFlushed } from '../../move/move.ts';
import { presentDatabase } from '../present-database.ts';
import { readingPages } from './move-tables.ts';

/** Limits under which all datapoints outside chunks are flushed. */
const flushAll = { ...datapointLimits, memtableEntryBytesMax: 1 };

/**
 * Opens a data directory to be moved, with all datapoints in chunks, and locks it: no service
 * writes it until `close`. Throws UnusableStorageError while one runs, or when there is no data.
 */
export async function openMoveSource(directory: string, log: Log): Promise<MoveSource> {
  const path = presentDatabase(directory);
  // Brings it to the newest version as well.
  const storage = await openSqlite({ directory, log, datapointLimits: flushAll });
  try {
    using reader = openConnection(path, { role: 'read' });
    await untilFlushed(async () => isFlushed(reader));
  } finally {
    await storage.close();
  }
  await using opened = new AsyncDisposableStack();
  const lock = lockDirectory(directory);
  opened.defer(() => lock.release());
  const database = openConnection(path, { role: 'read' });
  opened.defer(() => database.close());
  if (!isFlushed(database)) {
    throw new UnusableStorageError('a service wrote to the data directory just now: begin again');
  }
  const open = opened.move();
  return {
    name: `sqlite ${realpathSync(directory)}`,
    secret: async () => ensureInstallationSecret(directory),
    ...readingPages(database),
    close: () => open.disposeAsync(),
  };
}

/** Whether all that the log has is in chunks, or of sensors that are gone; its newest row stays. */
function isFlushed(database: DatabaseSync): boolean {
  const rows = createSelection<{ pushes: Uint8Array }>(
    database,
    'select pushes from datapoint_log order by seq limit 2',
  ).all();
  const sealedOf = createSelection<{ sealed: number }>(
    database,
    `select coalesce((select sealed from last_values where last_values.series = sensors.series), 0)
       as sealed from sensors where series = ?`,
  );
  const isInChunks = ({ pushes }: { readonly pushes: Uint8Array }): boolean =>
    decodePushes(pushes).every(({ series, sequenceNumber, batch }) => {
      const sealed = sealedOf.first(series)?.sealed;
      return sealed === undefined || sequenceNumber + batch.count <= sealed;
    });
  return rows.length < 2 && rows.every(isInChunks);
}
