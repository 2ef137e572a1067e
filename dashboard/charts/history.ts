import type { ApiClient } from '../api/client.ts';
import { chartLimits } from './chart-limits.ts';
import {
  type BucketPoint,
  type Columns,
  columnsOfBuckets,
  columnsOfPoints,
  firstAtOrAfter,
  type RawPoint,
} from './columns.ts';
import { type HistoryWish, historyQuery, rawQuery, type SensorKey } from './history-query.ts';
import type { Interval } from './intervals.ts';
import { spanOf, type TimeRange } from './ranges.ts';

/** What there is to draw of some sensors in a range. */
export interface History {
  /** One for each sensor asked for, in that order. */
  readonly columns: readonly Columns[];
  readonly interval: Interval;
  /** Whether points are averages of intervals. */
  readonly isThinned: boolean;
}

type OfSensor<Item> = Item & { readonly device_id: string; readonly sensor_id: string };

const path = '/sensors_data';

/**
 * Reads what a chart of this width can show, in one request: averages with their lowest and
 * highest, or every datapoint where `isRaw` says that there are few.
 */
export async function readHistory(
  api: Pick<ApiClient, 'getJson'>,
  wish: HistoryWish & { readonly isRaw?: boolean; readonly signal: AbortSignal },
): Promise<History> {
  const { sensors, signal } = wish;
  const { query, interval } = historyQuery(wish);
  if (sensors.length === 0) return { columns: [], interval, isThinned: false };
  if (wish.isRaw === true) {
    const raw = rawQuery(wish);
    const points = await api.getJson<readonly OfSensor<RawPoint>[]>({ path, query: raw, signal });
    // So many were not expected: whatever is left out would look like a gap.
    if (points.length < chartLimits.rawPointsMax) {
      const columns = columnsOf(sensors, points, columnsOfPoints);
      return { columns, interval, isThinned: false };
    }
  }
  const buckets = await api.getJson<readonly OfSensor<BucketPoint>[]>({ path, query, signal });
  const columns = columnsOf(sensors, buckets, (own) => columnsOfBuckets(own, interval.ms));
  return { columns, interval, isThinned: true };
}

/**
 * Whether a range is close enough to draw each datapoint: known by the averages at hand, which must
 * cover it. More than a point for each pixel is a smear, in which an average tells more.
 */
export function hasFew(
  history: History | undefined,
  range: TimeRange,
  /** Absent: for a table, which has no pixels. */
  widthPx?: number,
): boolean {
  if (history === undefined || history.columns.length === 0) return false;
  const counts = history.columns.map(({ times, counts: own }) => {
    const from = Math.max(0, firstAtOrAfter(times, range.from) - 1);
    const to = firstAtOrAfter(times, range.to);
    return own.slice(from, to).reduce((sum, count) => sum + count, 0);
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  const max = chartLimits.rawPointsMax / 2;
  if (widthPx === undefined) return total <= max;
  const eachMax = Math.max(widthPx, chartLimits.rawPointsMin);
  return total <= Math.min(history.columns.length * eachMax, max);
}

/** Whether one stretch is a part of another that is at least twice as long. */
export function isCloser(range: TimeRange, known: TimeRange): boolean {
  const slackMs = spanOf(known) * 0.02;
  return (
    range.from >= known.from - slackMs &&
    range.to <= known.to + slackMs &&
    spanOf(range) <= spanOf(known) * 0.6
  );
}

function columnsOf<Item>(
  sensors: readonly SensorKey[],
  items: readonly OfSensor<Item>[],
  make: (own: readonly OfSensor<Item>[]) => Columns,
): readonly Columns[] {
  const groups = new Map<string, OfSensor<Item>[]>();
  for (const item of items) {
    const key = sensorText({ deviceId: item.device_id, sensorId: item.sensor_id });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return sensors.map((sensor) => make(groups.get(sensorText(sensor)) ?? []));
}

/** Ids hold no slash. */
const sensorText = ({ deviceId, sensorId }: SensorKey): string => `${deviceId}/${sensorId}`;
