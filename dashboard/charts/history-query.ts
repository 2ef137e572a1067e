import { chartLimits } from './chart-limits.ts';
import { chooseInterval, type Interval } from './intervals.ts';
import { spanOf, type TimeRange } from './ranges.ts';

/** A sensor that is drawn. */
export interface SensorKey {
  readonly deviceId: string;
  readonly sensorId: string;
}

/** What a chart asks for. */
export interface HistoryWish {
  /** With `devices` these may be none: all sensors of those devices are asked for. */
  readonly sensors: readonly SensorKey[];
  readonly devices?: readonly string[] | undefined;
  readonly range: TimeRange;
  /** The range ends now, by whatever clock: what came in last belongs to it. */
  readonly endsNow?: boolean | undefined;
  readonly widthPx: number;
  /** The zone that days are cut in. */
  readonly zone?: string | undefined;
}

type Query = Readonly<Record<string, string>>;

/** From this length on it matters where a bucket begins. */
const hourMs = 3_600_000;

/**
 * The query for averages with their lowest and highest. It begins where a bucket does, so that the
 * same chart a moment later asks the same, and what has not changed is not sent again.
 */
export function historyQuery(wish: HistoryWish): {
  readonly query: Query;
  readonly interval: Interval;
} {
  const { range, widthPx, zone } = wish;
  const interval = chooseInterval(spanOf(range), widthPx);
  return {
    interval,
    query: {
      ...rangeQuery(wish, Math.floor(range.from / interval.ms) * interval.ms),
      ...{ aggregate: 'avg,min,max,count,last', interval: interval.text },
      ...(zone !== undefined && interval.ms >= hourMs && { timezone: zone }),
    },
  };
}

/** The query for every datapoint of a range in which there are few. */
export function rawQuery(wish: HistoryWish): Query {
  const limit = String(chartLimits.rawPointsMax);
  return { ...rangeQuery(wish, wish.range.from), limit, sort: 'asc' };
}

/** Which sensors, and from when to when. */
export function rangeQuery({ sensors, devices, range, endsNow }: HistoryWish, from: number): Query {
  const deviceIds = devices ?? sensors.map(({ deviceId }) => deviceId);
  return {
    device_id: [...new Set(deviceIds)].join(','),
    ...(devices === undefined && {
      sensor_id: [...new Set(sensors.map(({ sensorId }) => sensorId))].join(','),
    }),
    dateFrom: new Date(from).toISOString(),
    ...(endsNow !== true && { dateTo: new Date(range.to).toISOString() }),
  };
}
