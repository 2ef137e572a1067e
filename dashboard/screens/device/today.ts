import type { Measures } from '../../api/measures.ts';
import { shapeOf } from '../../api/sensor-shape.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { totalAggregates, totalIn } from '../../charts/bars.ts';
import type { BucketPoint } from '../../charts/columns.ts';
import { startOfDay, usableZone } from '../../charts/zone.ts';
import { formatNumber, numberOf } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';

type DayOfSensor = BucketPoint & { readonly sensor_id: string };

const refreshMs = 300_000;

/** What each sensor of a device said today, on its clock; undefined while that is not known. */
export function useToday(device: Device): ReadonlyMap<string, DayOfSensor> | undefined {
  const zone = usableZone(device.timezone);
  const dateFrom = new Date(startOfDay(now.value, zone)).toISOString();
  const { value } = useResource(
    `today ${device.id} ${dateFrom} ${zone}`,
    (signal) => {
      const query = { device_id: device.id, dateFrom, timezone: zone, interval: '1d' };
      return api.getJson<readonly DayOfSensor[]>({
        path: '/sensors_data',
        query: { ...query, aggregate: `avg,min,max,${totalAggregates}` },
        signal,
      });
    },
    { refreshMs, isKept: true },
  );
  return value && new Map(value.map((day) => [day.sensor_id, day]));
}

/** The lowest, highest and mean of today, or the total, as a line of a tile. */
export function todayText(
  sensor: Sensor,
  day: DayOfSensor | undefined,
  measures: Measures | undefined,
  line?: number,
): string {
  const number = (value: number): string => formatNumber(value, language.value, line);
  if (day?.min === undefined || day.max === undefined || day.avg === undefined) {
    return t('device.todayNone');
  }
  if (shapeOf(sensor) === 'sum') {
    const sum = totalIn(day, measures);
    if (sum === undefined) return '\u00a0';
    const total = `${number(sum)}\u00a0${unitSymbol(sensor.unit)}`.trim();
    return t('device.todayTotal', { total });
  }
  // What came since then is in the value above it, and must not be outside of what stands here.
  const last = numberOf(sensor.last_value?.value) ?? day.min;
  const low = number(Math.min(day.min, last));
  const high = number(Math.max(day.max, last));
  if (low === high) return t('device.todayTotal', { total: low });
  return t('device.today', { low, high, mean: number(day.avg) });
}
