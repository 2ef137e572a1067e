import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { type ColumnBatch, datapointAt } from '../datapoints/column-batch.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { limits } from '../limits.ts';
import { inOrderOfTime } from './newest-times.ts';

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
