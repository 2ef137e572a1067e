import { silentReporter } from '../../../domain/reporter.ts';
import { silentLog } from '../../../lib/log.ts';
import { createPace } from '../../examination/checks.ts';
import { createDamagedRows } from '../../faults.ts';
import { type PlannedDevice, type PlanOptions, planRetention } from '../../retention-plan.ts';
import { type RetainedRow, retainedSensors, sensorFromRow } from '../../sql/retentions.ts';
import type { DatabasePlace } from '../../storage.ts';
import { openForReading } from '../command-opening.ts';
import { retentionTables } from '../own-tables.ts';
import { createChunkCache } from '../timeseries/chunk-cache.ts';
import { countDatapoints } from '../timeseries/datapoints.ts';
import { hotLimits } from '../timeseries/hot-limits.ts';
import { createPartsLoading } from '../timeseries/series-parts.ts';
import { createViewSeries } from '../timeseries/series-view.ts';

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
        const days =
          hourlyBefore === undefined
            ? undefined
            : await reader.first<{ days: number }>(countDays, deviceId, sensorId, hourlyBefore);
        return {
          datapoints:
            oldest < rawBefore
              ? ((await view(reader, sensor, range, countDatapoints(range))) ?? 0)
              : 0,
          days: days?.days ?? 0,
        };
      },
    });
  } finally {
    await reader.close();
  }
}
