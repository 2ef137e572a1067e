import { createLruCache } from '../../lib/cache.ts';
import type { Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { type ColumnBatch, datapointAt } from '../datapoints/column-batch.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoints/datapoint.ts';
import { datapointsOf } from '../datapoints/datapoint-columns.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';

/** Finds by sensor the newest time that was measured before a push: what is older is history. */
export interface PushTimes {
  /** Undefined: it has to be fetched. */
  peek(sensor: SensorRef): Instant | undefined;
  /** The newest of those that were received before the push; none: before all times. */
  before(push: StoredPush): Promise<Instant>;
  keep(sensor: SensorRef, time: Instant): void;
}

/** The newest times of sensors as they are evaluated. */
interface NewestTimes extends PushTimes {
  /** Of one sensor, or of all of the device. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
  isEmpty(): boolean;
}

export function createNewestTimes(datapoints: Pick<DatapointStore, 'scan'>): NewestTimes {
  const known = createLruCache<DeviceId, Map<SensorId, Instant>>(limits.evaluatedDevicesMax);
  return {
    peek: ({ deviceId, sensorId }) => known.get(deviceId)?.get(sensorId),
    async before(push) {
      const first = push.batch?.received[0] ?? push.datapoints[0]?.receivedAt;
      const received = first ?? Number.POSITIVE_INFINITY;
      const isBefore = ({ receivedAt }: Datapoint): boolean => receivedAt < received;
      const newest = await newestWhere(datapoints, push, isBefore);
      return newest === undefined ? Number.NEGATIVE_INFINITY : orderTime(newest);
    },
    keep({ deviceId, sensorId }, time) {
      const times = known.get(deviceId);
      if (times === undefined) known.set(deviceId, new Map([[sensorId, time]]));
      else times.set(sensorId, time);
    },
    forget(deviceId, sensorId) {
      if (sensorId === undefined) known.delete(deviceId);
      else known.get(deviceId)?.delete(sensorId);
    },
    isEmpty: () => known.size === 0,
  };
}

/** The newest datapoint of a sensor by time that is wanted, among as many as are searched. */
export async function newestWhere(
  datapoints: Pick<DatapointStore, 'scan'>,
  { deviceId, sensorId }: SensorRef,
  isWanted: (datapoint: Datapoint) => boolean,
): Promise<Datapoint | undefined> {
  let limit = 20;
  const breathe = createBreather();
  for (let skip = 0; skip < evaluationLimits.newestSearchedMax; ) {
    const page = { order: 'desc', skip, limit } as const;
    const { columns, isCut } = await datapoints.scan(
      { deviceId, sensorId },
      page,
      evaluationLimits.newestSearchCharactersMax,
    );
    const found = datapointsOf(columns).find(isWanted);
    const isOver = columns.count < limit && !isCut;
    if (found !== undefined || isOver || columns.count === 0) return found;
    skip += columns.count;
    limit = 1_000;
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  return undefined;
}

/** The datapoints of one push in the order of their times. */
export function inOrderOfTime(datapoints: readonly Datapoint[]): readonly Datapoint[] {
  const isInOrder = datapoints.every((datapoint, at) => {
    const former = datapoints[at - 1];
    return former === undefined || orderTime(former) <= orderTime(datapoint);
  });
  return isInOrder ? datapoints : datapoints.toSorted((a, b) => orderTime(a) - orderTime(b));
}

/** The datapoints of one push in the order of their times. */
export interface PushedOrder {
  readonly count: number;
  at(place: number): Datapoint;
}

/** The batch of a push that is long. */
export const longBatchOf = ({ batch }: StoredPush): ColumnBatch | undefined =>
  batch !== undefined && batch.count > limits.datapointsPerTurn ? batch : undefined;

/** The order of a short push. */
export function shortOrder(push: StoredPush): PushedOrder {
  const datapoints = inOrderOfTime(push.datapoints);
  return { count: datapoints.length, at: (place) => datapoints[place] as Datapoint };
}

/** The order of a long push, made row by row in slices of the event loop. */
export async function longOrder(batch: ColumnBatch, pace: Pace): Promise<PushedOrder> {
  const steps = rowsByTime(batch.times.subarray(0, batch.count));
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) if (pace.isOver()) await pace.rest();
  const rows = step.value;
  const at = (place: number) => datapointAt(batch, rows === undefined ? place : (rows[place] ?? 0));
  return { count: batch.count, at };
}

const rowsPerStep = 8_192;

/**
 * The places of times in their order, equal ones in the order given; undefined: all are in order. A
 * merge sort, which can pause.
 */
export function* rowsByTime(times: Float64Array): Generator<void, Uint32Array | undefined> {
  const timeOf = (row: number | undefined): number => times[row ?? 0] ?? 0;
  if (times.every((time, row) => row === 0 || timeOf(row - 1) <= time)) return undefined;
  yield;
  let rows = new Uint32Array(times.length).map((_, row) => row);
  let merged = new Uint32Array(times.length);
  for (let width = 1; width < times.length; width *= 2) {
    for (let from = 0; from < times.length; from += 2 * width) {
      const middle = Math.min(from + width, times.length);
      const end = Math.min(from + 2 * width, times.length);
      let [left, right] = [from, middle];
      for (let to = from; to < end; to += 1) {
        const isLeft = left < middle && (right >= end || timeOf(rows[left]) <= timeOf(rows[right]));
        merged[to] = (isLeft ? rows[left] : rows[right]) ?? 0;
        if (isLeft) left += 1;
        else right += 1;
        if (to % rowsPerStep === 0) yield;
      }
    }
    [rows, merged] = [merged, rows];
  }
  return rows;
}
