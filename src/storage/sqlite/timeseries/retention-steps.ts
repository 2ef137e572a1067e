import type { DatabaseSync } from 'node:sqlite';
import type { HourTally, RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import type { RetentionLimits } from '../../../domain/datapoints/retention/retention.ts';
import type { ChunkLimits } from '../../chunks/chunk-store.ts';
import { runAwaiting } from '../../chunks/engine-work.ts';
import { type RetentionReport, restoreHours, takeOld } from '../../chunks/retention-step.ts';
import { retentionTablesOf } from '../../sql/retention-tables.ts';
import { hourTables } from '../own-tables.ts';
import { createSession } from '../session.ts';
import { createChunkTable } from './chunk-table.ts';

/** The work of one step of retention. */
export interface RetentionOrder extends RetentionLimits {
  readonly series: number;
  readonly limits: ChunkLimits;
}

/** The changes that the writer thread makes for retention. */
export function createRetentionStepWrites(
  database: DatabaseSync,
  session = createSession(database),
) {
  const chunksOf = createChunkTable(database);
  const tablesOf = (series: number) =>
    retentionTablesOf(session, { bucket: 0, series }, hourTables);
  return {
    /** Adds hours to a series that they were summed up of elsewhere. */
    putHours: (series: number, state: RetainedState, given: readonly HourTally[]): Promise<void> =>
      runAwaiting(restoreHours(tablesOf(series), state, given)),
    /** Takes one step: hours that are too old, or else the oldest datapoints that are. */
    takeOldDatapoints: ({ series, limits, ...ages }: RetentionOrder): Promise<RetentionReport> =>
      runAwaiting(takeOld({ ...tablesOf(series), chunks: chunksOf(series, limits) }, ages)),
  };
}
