import { existsSync } from 'node:fs';
import { limitsOf, type Retention } from '../../../domain/datapoints/retention/retention.ts';
import { retentionLimits } from '../../../domain/datapoints/retention/retention-limits.ts';
import { silentLog } from '../../../lib/log.ts';
import { type RetainedRow, sensorFromRow } from '../../sql/retention-row.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import { databasePath, openConnection } from '../connection.ts';
import { readMigrations, refuseUnknown, versionOf } from '../migrate.ts';
import { retainedSensors } from '../retentions.ts';
import { createSelection, inSnapshot } from '../selection.ts';
import { createChunkReader } from '../timeseries/chunk-reader.ts';
import { datapointLimits } from '../timeseries/datapoint-limits.ts';
import { createPace } from './pace.ts';

/** What retention would take of one device. */
export interface PlannedDevice {
  readonly owner: string;
  readonly device: string;
  readonly sensors: number;
  readonly datapoints: number;
  /** Days whose hours would go. */
  readonly days: number;
}

const pageOfSensors = `${retainedSensors} where sensors.series > ? order by sensors.series limit ?`;
const countDays = 'select count(*) as days from hourly_summaries where series = ? and day < ?';

/**
 * What retention would take now, device after device, those with most first; beside a service or
 * without one. It reads alone, a little at a time; what is not in chunks yet is not counted. Throws
 * UnusableStorageError when there is nothing that it could look at.
 */
export async function planRetention(options: {
  readonly directory: string;
  readonly now: number;
  /** What holds where nothing is set. */
  readonly ofService: Retention;
}): Promise<readonly PlannedDevice[]> {
  const { directory, now, ofService } = options;
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
  const sensors = createSelection<RetainedRow>(database, pageOfSensors);
  const days = createSelection<{ days: number }>(database, countDays);
  const devices = new Map<string, PlannedDevice>();

  function add(row: RetainedRow): void {
    const { number, owner, deviceId: device, nearest } = sensorFromRow(row);
    const { rawBefore, hourlyBefore } = limitsOf(nearest?.retention ?? ofService, now);
    if (rawBefore === undefined) return;
    const found = inSnapshot(database, () => ({
      datapoints: chunks.count(number, { to: rawBefore - 1 }),
      days: hourlyBefore === undefined ? 0 : (days.first(number, hourlyBefore)?.days ?? 0),
    }));
    if (found.datapoints + found.days === 0) return;
    const known = devices.get(device) ?? { owner, device, sensors: 0, datapoints: 0, days: 0 };
    devices.set(device, {
      ...known,
      sensors: known.sensors + 1,
      datapoints: known.datapoints + found.datapoints,
      days: known.days + found.days,
    });
  }

  for (let after = -1; ; ) {
    const rows = sensors.all(after, retentionLimits.retainedSensorsPerPage);
    for (const row of rows) {
      add(row);
      after = row.series;
      await pace();
    }
    if (rows.length < retentionLimits.retainedSensorsPerPage) break;
  }
  return [...devices.values()].sort((a, b) => b.datapoints - a.datapoints || b.days - a.days);
}
