import {
  type Datapoint,
  lastAmong,
  orderTime,
  type SensorRef,
} from '../../../src/domain/datapoints/datapoint.ts';
import type { Page, Range } from '../../../src/domain/datapoints/datapoint-store.ts';

/** The datapoints of sensors as plain lists: what an engine must answer, by the rules alone. */
export interface NaiveDatapoints {
  /** Answers what was not stored already. */
  append(sensor: SensorRef, datapoints: readonly Datapoint[]): readonly Datapoint[];
  read(sensor: SensorRef, page: Page): readonly Datapoint[];
  count(sensor: SensorRef, range: Range): number;
  lastValue(sensor: SensorRef): Datapoint | undefined;
  /** Drops what a removed sensor had. */
  forget(sensor: SensorRef): void;
  /** Of those before a time, keeps these alone, which it must have; answers how many went. */
  keepOf(sensor: SensorRef, before: number, left: readonly Datapoint[]): number;
}

/** No datapoints yet. */
export function createNaiveDatapoints(): NaiveDatapoints {
  /** In order of arrival. */
  const lists = new Map<string, Datapoint[]>();
  const lasts = new Map<string, Datapoint>();
  const nameOf = ({ deviceId, sensorId }: SensorRef): string => `${deviceId}/${sensorId}`;

  function within(sensor: SensorRef, range: Range): Datapoint[] {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
    return (lists.get(nameOf(sensor)) ?? [])
      .filter((one) => orderTime(one) >= from && orderTime(one) <= to)
      .toSorted((a, b) => orderTime(a) - orderTime(b));
  }

  return {
    append(sensor, datapoints) {
      const list = lists.get(nameOf(sensor)) ?? [];
      lists.set(nameOf(sensor), list);
      const fresh: Datapoint[] = [];
      /** All but what the same push brought before. */
      const said: Datapoint[] = [];
      for (const one of datapoints) {
        if (fresh.some((other) => isSame(one, other))) continue;
        said.push(one);
        if (!list.some((other) => isSame(one, other))) fresh.push(one);
      }
      const last = lastAmong(said);
      if (last !== undefined && fresh.includes(last)) lasts.set(nameOf(sensor), last);
      list.push(...fresh);
      return fresh;
    },
    read(sensor, page) {
      const list = within(sensor, page);
      if (page.order === 'desc') list.reverse();
      return list.slice(page.skip, page.skip + page.limit);
    },
    count: (sensor, range) => within(sensor, range).length,
    lastValue: (sensor) => lasts.get(nameOf(sensor)),
    forget(sensor) {
      lists.delete(nameOf(sensor));
      lasts.delete(nameOf(sensor));
    },
    keepOf(sensor, before, left) {
      const list = lists.get(nameOf(sensor)) ?? [];
      const kept = [...left];
      const next = list.filter((one) => {
        if (orderTime(one) >= before) return true;
        const at = kept.findIndex((other) => JSON.stringify(other) === JSON.stringify(one));
        if (at !== -1) kept.splice(at, 1);
        return at !== -1;
      });
      if (kept.length > 0) throw new Error('there is a datapoint that never was');
      lists.set(nameOf(sensor), next);
      return list.length - next.length;
    },
  };
}

/** A timestamp and a value that come again are the same datapoint. */
function isSame(one: Datapoint, other: Datapoint): boolean {
  return (
    one.timestamp !== undefined &&
    one.timestamp === other.timestamp &&
    JSON.stringify(one.value) === JSON.stringify(other.value)
  );
}
