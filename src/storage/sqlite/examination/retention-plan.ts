import { existsSync } from 'node:fs';
import { limitsOf } from '../../../domain/datapoints/retention/retention.ts';
import { silentLog } from '../../../lib/log.ts';
import { createPace } from '../../examination/checks.ts';
import { type PlannedDevice, type PlanOptions, planRetention } from '../../retention-plan.ts';
import { type RetainedRow, retainedSensors, sensorFromRow } from '../../sql/retentions.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { createSelection, databasePath, inSnapshot, openConnection } from '../connection.ts';
import { readMigrations, refuseUnknown, versionOf } from '../migrate.ts';
import { retentionTables } from '../own-tables.ts';
import { forSqlite } from '../session.ts';
import { createChunkReader } from '../timeseries/chunk-reader.ts';
import { datapointLimits } from '../timeseries/datapoint-limits.ts';
import { createLoggedCount } from './logged-datapoints.ts';

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
  const path = databasePath(directory);
  if (!existsSync(path)) {
    throw new UnusableStorageError(`there is no database in ${directory}: set KIPIMO_DATA_DIR`);
  }
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
  const countLogged = createLoggedCount(database, {
    flushed: chunks.flushed,
    rawBefore(series) {
      const row = sensors.first(series - 1, 1);
      if (row?.series !== series) return undefined;
      const { retention } = sensorFromRow(row).nearest ?? { retention: options.ofService };
      return limitsOf(retention, options.now).rawBefore;
    },
  });
  // Awaited here: the connection is closed on the way out.
  return await planRetention(options, {
    sensorsAfter: async (after, max) => sensors.all(after, max).map(sensorFromRow),
    async countOld({ number }, { rawBefore, hourlyBefore }) {
      await pace();
      return inSnapshot(database, () => ({
        datapoints: chunks.count(number, { to: rawBefore - 1 }) + countLogged(number),
        days: hourlyBefore === undefined ? 0 : (days.first(number, hourlyBefore)?.days ?? 0),
      }));
    },
  });
}
