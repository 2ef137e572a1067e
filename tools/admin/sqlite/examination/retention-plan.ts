import type { DatabaseSync } from 'node:sqlite';
import type { SensorRef } from '../../../../src/domain/datapoints/datapoint.ts';
import { silentReporter } from '../../../../src/domain/reporter.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { type Columns, toColumns } from '../../../../src/storage/chunks/columns.ts';
import { countInRange } from '../../../../src/storage/chunks/datapoint-page.ts';
import { createDamagedRows } from '../../../../src/storage/faults.ts';
import {
  type RetainedRow,
  retainedSensors,
  sensorFromRow,
} from '../../../../src/storage/sql/retentions.ts';
import { createSelection, openConnection } from '../../../../src/storage/sqlite/connection.ts';
import {
  readMigrations,
  refuseUnknown,
  versionOf,
} from '../../../../src/storage/sqlite/migrate.ts';
import { retentionTables } from '../../../../src/storage/sqlite/own-tables.ts';
import { forSqlite } from '../../../../src/storage/sqlite/session.ts';
import { createChunkReader } from '../../../../src/storage/sqlite/timeseries/chunk-reader.ts';
import { datapointLimits } from '../../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import { replayLog } from '../../../../src/storage/sqlite/timeseries/datapoint-replay.ts';
import { createMemtable } from '../../../../src/storage/sqlite/timeseries/memtable.ts';
import {
  createSeriesTable,
  unflushedOf,
} from '../../../../src/storage/sqlite/timeseries/series.ts';
import { UnusableStorageError } from '../../../../src/storage/unusable-storage-error.ts';
import { createPace } from '../../examination/checks.ts';
import { type PlannedDevice, type PlanOptions, planRetention } from '../../retention-plan.ts';
import { inSnapshot, presentDatabase } from '../present-database.ts';

const pageOfSensors = retainedSensors(retentionTables, 'true');
const countDays = 'select count(*) as days from hourly_summaries where series = ? and day < ?';

/**
 * Plans what retention would take now, of the data directory, beside a service or without one: in
 * chunks, and in the log alone. It only reads, a little at a time. Throws UnusableStorageError
 * when there is nothing to read.
 */
export async function planRetentionOf(
  directory: string,
  options: PlanOptions,
): Promise<readonly PlannedDevice[]> {
  const path = presentDatabase(directory);
  using database = openConnection(path, { role: 'read' });
  const migrations = readMigrations();
  refuseUnknown(database, path, migrations);
  if (versionOf(database) < migrations.length) {
    throw new UnusableStorageError(`${path} is of an earlier version: start the service once`);
  }
  const pace = createPace();
  const chunks = createChunkReader(database, datapointLimits, silentLog);
  const sensors = createSelection<RetainedRow>(database, forSqlite(pageOfSensors));
  const days = createSelection<{ days: number }>(database, countDays);
  const loggedOf = readLogged(database);
  // Awaited here: the connection is closed on the way out.
  return await planRetention(options, {
    sensorsAfter: async (after, max) => sensors.all(after, max).map(sensorFromRow),
    async countOld(sensor, { rawBefore, hourlyBefore }) {
      await pace();
      const { number } = sensor;
      const range = { to: rawBefore - 1 };
      return inSnapshot(database, () => ({
        datapoints:
          chunks.count(number, range) +
          countInRange(loggedOf(sensor, chunks.flushed(number)), range),
        days: hourlyBefore === undefined ? 0 : (days.first(number, hourlyBefore)?.days ?? 0),
      }));
    },
  });
}

/**
 * Reads the log once, as a service does at its start: the datapoints of a sensor that were in the
 * log alone, for a reader who sees `flushed` of them in chunks by now.
 */
export function readLogged(
  database: DatabaseSync,
): (sensor: SensorRef, flushed: number) => Columns {
  const damaged = createDamagedRows({ log: silentLog, reporter: silentReporter });
  const memtable = createMemtable(datapointLimits);
  const table = createSeriesTable(database, datapointLimits, damaged, memtable);
  inSnapshot(database, () => replayLog({ reader: database, table, memtable, damaged }));
  return (sensor, flushed) => {
    const series = table.resolve(sensor);
    return series === undefined ? toColumns([]) : unflushedOf(series, flushed);
  };
}
