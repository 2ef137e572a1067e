import type { ApiClient } from '../api/client.ts';
import { chartLimits } from './chart-limits.ts';
import {
  type BucketPoint,
  type Columns,
  columnsOfBuckets,
  columnsOfPoints,
  emptyColumns,
  type RawPoint,
} from './columns.ts';
import { chooseInterval, type Interval } from './intervals.ts';
import { spanOf, type TimeRange } from './ranges.ts';

/** A sensor that is drawn. */
export interface SensorKey {
  readonly deviceId: string;
  readonly sensorId: string;
}

/** What there is to draw of some sensors in a range. */
export interface History {
  /** One for each sensor asked for, in that order. */
  readonly columns: readonly Columns[];
  readonly interval: Interval;
  /** Whether points are averages of intervals. */
  readonly isThinned: boolean;
}

type OfSensor<Item> = Item & { readonly device_id: string; readonly sensor_id: string };

/**
 * Reads what a chart of this width can show: averages with their lowest and highest, or, where
 * there are few enough, every datapoint.
 */
export async function readHistory(
  api: Pick<ApiClient, 'getJson'>,
  wanted: {
    readonly sensors: readonly SensorKey[];
    readonly range: TimeRange;
    /** The range ends now, by whatever clock: what came in last belongs to it. */
    readonly endsNow?: boolean;
    readonly widthPx: number;
    readonly signal: AbortSignal;
  },
): Promise<History> {
  const { sensors, range, endsNow = false, widthPx, signal } = wanted;
  const interval = chooseInterval(spanOf(range), widthPx);
  if (sensors.length === 0) return { columns: [], interval, isThinned: false };
  const path = '/sensors_data';
  const query = {
    device_id: [...new Set(sensors.map(({ deviceId }) => deviceId))].join(','),
    sensor_id: [...new Set(sensors.map(({ sensorId }) => sensorId))].join(','),
    dateFrom: new Date(range.from).toISOString(),
    ...(!endsNow && { dateTo: new Date(range.to).toISOString() }),
  };
  const buckets = await api.getJson<readonly OfSensor<BucketPoint>[]>({
    path,
    query: { ...query, aggregate: 'avg,min,max,count,last', interval: interval.text },
    signal,
  });
  const total = buckets.reduce((sum, { count = 1 }) => sum + count, 0);
  // More than a point for each pixel is a smear, in which an average with its band tells more.
  const visibleMax = sensors.length * Math.max(widthPx, chartLimits.rawPointsMin);
  if (total > Math.min(visibleMax, chartLimits.rawPointsMax)) {
    const bySensor = groupBySensor(buckets);
    const columns = sensors.map((sensor) =>
      columnsOfBuckets(bySensor.get(sensorText(sensor)) ?? [], interval.ms),
    );
    return { columns, interval, isThinned: true };
  }
  if (total === 0)
    return { columns: sensors.map(() => emptyColumns()), interval, isThinned: false };
  const points = await api.getJson<readonly OfSensor<RawPoint>[]>({
    path,
    // A little room for what came in since it was counted.
    query: { ...query, limit: chartLimits.rawPointsMax + 1_000, sort: 'asc' },
    signal,
  });
  const bySensor = groupBySensor(points);
  const columns = sensors.map((sensor) => columnsOfPoints(bySensor.get(sensorText(sensor)) ?? []));
  return { columns, interval, isThinned: false };
}

/** Ids hold no slash. */
const sensorText = ({ deviceId, sensorId }: SensorKey): string => `${deviceId}/${sensorId}`;

function groupBySensor<Item>(
  items: readonly OfSensor<Item>[],
): ReadonlyMap<string, readonly OfSensor<Item>[]> {
  const groups = new Map<string, OfSensor<Item>[]>();
  for (const item of items) {
    const key = sensorText({ deviceId: item.device_id, sensorId: item.sensor_id });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
