import { silentReporter } from '../../../../src/domain/reporter.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { createDamagedRows } from '../../../../src/storage/faults.ts';
import { retentionTables } from '../../../../src/storage/postgres/own-tables.ts';
import { createChunkCache } from '../../../../src/storage/postgres/timeseries/chunk-cache.ts';
import { countDatapoints } from '../../../../src/storage/postgres/timeseries/datapoints.ts';
import { hotLimits } from '../../../../src/storage/postgres/timeseries/hot-limits.ts';
import { createPartsLoading } from '../../../../src/storage/postgres/timeseries/series-parts.ts';
import { createViewSeries } from '../../../../src/storage/postgres/timeseries/series-view.ts';
import {
  type RetainedRow,
  retainedSensors,
  sensorFromRow,
} from '../../../../src/storage/sql/retentions.ts';
import type { DatabasePlace } from '../../../../src/storage/storage.ts';
import { createPace } from '../../examination/checks.ts';
import { type PlannedDevice, type PlanOptions, planRetention } from '../../retention-plan.ts';
import { openForReading } from '../command-opening.ts';

const pageOfSensors = retainedSensors(retentionTables, 'true');
const countDays = `
  select count(*) as days from hourly_summaries
  where (bucket, series) =
    (select bucket, series from sensors where device_id = $1 and sensor_id = $2) and day < $3`;

/**
 * Plans what retention would take now, beside a service or without one; it only reads. Throws
 * UnusableStorageError when there is nothing that it could read.
 */
export async function planRetentionOf(
  { url }: DatabasePlace,
  options: PlanOptions,
): Promise<readonly PlannedDevice[]> {
  const reader = await openForReading(url);
  const damaged = createDamagedRows({ log: silentLog, reporter: silentReporter });
  const cache = createChunkCache(hotLimits, silentLog);
  const { loadParts } = createPartsLoading(damaged);
  const view = createViewSeries({ cache, limits: hotLimits, loadParts });
  const pace = createPace();
  try {
    return await planRetention(options, {
      sensorsAfter: async (after, max) =>
        (await reader.all<RetainedRow>(pageOfSensors, after, max)).map(sensorFromRow),
      async countOld(sensor, { rawBefore, hourlyBefore }) {
        await pace();
        const { deviceId, sensorId, oldest = rawBefore } = sensor;
        const range = { to: rawBefore - 1 };
        const count = countDatapoints(range);
        const days =
          hourlyBefore === undefined
            ? undefined
            : await reader.first<{ days: number }>(countDays, deviceId, sensorId, hourlyBefore);
        return {
          datapoints:
            oldest < rawBefore
              ? ((await view(reader, sensor, range, async (seen) => count(seen))) ?? 0)
              : 0,
          days: days?.days ?? 0,
        };
      },
    });
  } finally {
    await reader.close();
  }
}
