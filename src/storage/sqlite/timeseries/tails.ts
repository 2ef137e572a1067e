import { type Datapoint, orderTime } from '../../../domain/datapoints/datapoint.ts';
import { weigh, weightOf } from '../../../domain/datapoints/weight.ts';
import type { DeviceId } from '../../../domain/ids.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { emptyTail, forgetLarge, type Series, type Tail } from './series.ts';

/** All datapoints outside chunks, and which of them should go there next. */
export interface Tails {
  /** What all of them weigh. */
  readonly weight: number;
  /** Adds datapoints that the log row `row` made durable. */
  add(series: Series, datapoints: readonly Datapoint[], row: number, weight?: number): void;
  /** Counts datapoints that a replayed row holds although they are in chunks. */
  passOver(datapoints: readonly Datapoint[], row: number): void;
  /** What devices have outside chunks. */
  weights(): ReadonlyMap<DeviceId, number>;
  /** Whether freezeDue would find something. */
  isDue(): boolean;
  /** Freezes what is to be sealed next: full tails, else the oldest while there are too many. */
  freezeDue(): readonly Series[];
  /** The frozen datapoints of the series are in chunks. */
  settle(series: Series): void;
  /** They are not: they go back to the head of their tail. */
  restore(series: Series): void;
  drop(series: Series): void;
  /** Every datapoint of log rows up to this one is in chunks, or frozen. */
  doneThrough(): number;
}

/** No tails yet. */
export function createTails(limits: DatapointLimits): Tails {
  // In order of their first row.
  let live = new Map<number, Series>();
  const full = new Set<Series>();
  let liveWeight = 0;
  let frozenWeight = 0;
  let logged = 0;
  let lastRow = 0;

  function add(
    series: Series,
    datapoints: readonly Datapoint[],
    row: number,
    added: number = weightOf(datapoints),
  ): void {
    const { tail } = series;
    if (tail.datapoints.length === 0) {
      Object.assign(tail, { firstRow: row, startedAt: logged, isSorted: true });
      live.set(series.number, series);
    }
    let latest = newestOf(tail);
    for (const datapoint of datapoints) {
      const time = orderTime(datapoint);
      if (time < latest) tail.isSorted = false;
      else latest = time;
      tail.datapoints.push(datapoint);
    }
    tail.weight += added;
    series.sorted = undefined;
    liveWeight += added;
    logged += added;
    lastRow = row;
    if (tail.weight >= limits.tailWeightMax) full.add(series);
  }

  function oldest(): Series | undefined {
    return live.values().next().value;
  }

  function isTooMuch(): boolean {
    const first = oldest();
    if (first === undefined) return false;
    return (
      liveWeight > limits.tailsWeightMax || logged - first.tail.startedAt > limits.logWeightMax
    );
  }

  function nextDue(): Series | undefined {
    for (const series of full) return series;
    return isTooMuch() ? oldest() : undefined;
  }

  /** Takes datapoints of at most this weight, or one, from the head of the tail. */
  function freeze(series: Series, weightMax: number): number {
    const { tail } = series;
    let weight = 0;
    let count = 0;
    for (const datapoint of tail.datapoints) {
      const added = weigh(datapoint);
      if (count > 0 && weight + added > weightMax) break;
      weight += added;
      count += 1;
    }
    if (count === tail.datapoints.length) {
      series.frozen = tail;
      series.tail = emptyTail();
      live.delete(series.number);
    } else {
      series.frozen = { ...tail, datapoints: tail.datapoints.splice(0, count), weight };
      tail.weight -= weight;
    }
    series.sorted = undefined;
    if (series.tail.weight < limits.tailWeightMax) full.delete(series);
    liveWeight -= weight;
    frozenWeight += weight;
    return weight;
  }

  function restore(series: Series): void {
    const { frozen, tail } = series;
    if (frozen === undefined) return;
    const datapoints = [...frozen.datapoints, ...tail.datapoints];
    const weight = frozen.weight + tail.weight;
    series.tail = { ...frozen, datapoints, weight, isSorted: false };
    series.frozen = undefined;
    series.sorted = undefined;
    live = new Map([[series.number, series], ...live]);
    if (weight >= limits.tailWeightMax) full.add(series);
    liveWeight += frozen.weight;
    frozenWeight -= frozen.weight;
  }

  return {
    get weight() {
      return liveWeight + frozenWeight;
    },
    add,
    passOver(datapoints, row) {
      logged += datapoints.length;
      lastRow = row;
    },
    weights() {
      const weights = new Map<DeviceId, number>();
      for (const { deviceId, tail } of live.values()) {
        weights.set(deviceId, (weights.get(deviceId) ?? 0) + tail.weight);
      }
      return weights;
    },
    isDue: () => nextDue() !== undefined,
    freezeDue() {
      const frozen: Series[] = [];
      let room = limits.sealWeightPerStep;
      while (room > 0 && frozen.length < limits.sealSeriesPerStep) {
        const series = nextDue();
        // A tail longer than one step comes again in the next.
        if (series === undefined || series.frozen !== undefined) break;
        room -= freeze(series, room);
        frozen.push(series);
      }
      return frozen;
    },
    settle(series) {
      if (series.frozen === undefined) return;
      series.sealed += series.frozen.datapoints.length;
      frozenWeight -= series.frozen.weight;
      series.frozen = undefined;
      series.sorted = undefined;
      series.ordinals = undefined;
      forgetLarge(series);
    },
    restore,
    drop(series) {
      liveWeight -= series.tail.weight;
      frozenWeight -= series.frozen?.weight ?? 0;
      series.tail = emptyTail();
      series.frozen = undefined;
      live.delete(series.number);
      full.delete(series);
    },
    doneThrough() {
      const first = oldest();
      return first === undefined ? lastRow : first.tail.firstRow - 1;
    },
  };
}

function newestOf(tail: Tail): number {
  const last = tail.datapoints.at(-1);
  return last === undefined ? Number.NEGATIVE_INFINITY : orderTime(last);
}
