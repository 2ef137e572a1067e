import { useEffect, useRef, useState } from 'preact/hooks';
import type { Query } from '../api/query-text.ts';
import { correctionsMade } from '../state/corrections.ts';
import { useRecovery } from '../state/recovery.ts';
import { api } from '../state/session.ts';
import { barInterval, columnsOfBars, totalAggregates, totalIn } from './bars.ts';
import type { ChartSensor } from './chart-props.ts';
import type { BucketPoint, Columns } from './columns.ts';
import type { SensorKey } from './history-query.ts';
import { rangeQuery } from './history-query.ts';
import { spanOf, type TimeRange } from './ranges.ts';

/** Values that come in are in the bars this much later. */
const liveMs = 10_000;

type OfSensor = BucketPoint & { readonly device_id: string; readonly sensor_id: string };

const textOf = ({ deviceId, sensorId }: SensorKey): string => `${deviceId}/${sensorId}`;

export interface Sums {
  readonly columnsOf: (sensor: ChartSensor) => Columns;
  /** Of the whole range. */
  readonly totalOf: (sensor: ChartSensor) => number | undefined;
  readonly isLoading: boolean;
}

interface Found {
  readonly bars: ReadonlyMap<string, readonly OfSensor[]>;
  readonly totals: ReadonlyMap<string, readonly OfSensor[]>;
}

const nothing: Found = { bars: new Map(), totals: new Map() };

/**
 * Bars of totals for those sensors that have some, cut in hours, days and months of the zone, and
 * their totals of the range: all as the API computes them.
 */
export function useSums(options: {
  readonly sensors: readonly ChartSensor[];
  readonly range: TimeRange;
  readonly endsNow: boolean;
  readonly zone: string;
  /** Counts values that came in. */
  readonly version: number;
}): Sums {
  const { sensors, range, endsNow, zone, version } = options;
  const [found, setFound] = useState(nothing);
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(sensors.length > 0);
  const [turn, setTurn] = useState(0);
  const identity = sensors.map(textOf).join();
  const made = correctionsMade.value;
  const wanted = useRef(sensors);
  wanted.current = sensors;
  useRecovery(error, () => setTurn((before) => before + 1));

  useEffect(() => {
    if (version === 0 || identity === '') return;
    const timer = setTimeout(() => setTurn((before) => before + 1), liveMs);
    return () => clearTimeout(timer);
  }, [version > 0, Math.floor(version / 20), identity]);

  useEffect(() => {
    if (identity === '') return;
    const abort = new AbortController();
    const interval = barInterval(spanOf(range));
    const wish = { sensors: wanted.current, range, endsNow, widthPx: 0 };
    const whole = {
      ...rangeQuery(wish, Math.floor(range.from / 60_000) * 60_000),
      aggregate: totalAggregates,
    };
    setLoading(true);
    const cut = { ...whole, interval: interval.text, timezone: zone };
    Promise.all([cut, whole].map((query) => readSums(query, abort.signal)))
      .then(([bars, totals]) => {
        if (abort.signal.aborted || bars === undefined || totals === undefined) return;
        setFound({ bars, totals });
        setError(undefined);
        setLoading(false);
      })
      .catch((failure: unknown) => {
        if (abort.signal.aborted) return;
        setError(failure);
        setLoading(false);
      });
    return () => abort.abort();
  }, [identity, made, range.from, range.to, endsNow, zone, turn]);

  return {
    columnsOf: (sensor) => {
      const { ms } = barInterval(spanOf(range));
      return columnsOfBars(found.bars.get(textOf(sensor)) ?? [], ms, sensor.measures);
    },
    totalOf: (sensor) => {
      const [total] = found.totals.get(textOf(sensor)) ?? [];
      return total && totalIn(total, sensor.measures);
    },
    isLoading,
  };
}

/** Buckets by the sensor they are of. */
async function readSums(query: Query, signal: AbortSignal): Promise<Found['bars']> {
  const path = '/sensors_data';
  const groups = new Map<string, OfSensor[]>();
  for (const bucket of await api.getJson<readonly OfSensor[]>({ path, query, signal })) {
    const key = textOf({ deviceId: bucket.device_id, sensorId: bucket.sensor_id });
    groups.set(key, [...(groups.get(key) ?? []), bucket]);
  }
  return groups;
}
