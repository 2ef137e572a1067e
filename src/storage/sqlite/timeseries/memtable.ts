import { type Datapoint, orderTime } from '../../../domain/datapoints/datapoint.ts';
import { weigh, weightOf } from '../../../domain/datapoints/weight.ts';
import type { DeviceId } from '../../../domain/ids.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import { emptyMemtableEntry, forgetLarge, type MemtableEntry, type Series } from './series.ts';

/** All datapoints outside chunks, and which of them should go there next. */
export interface Memtable {
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
  /** Nothing arrived for a while: all is due until something does, if it is worth the work. */
  rest(): void;
  /** Freezes what is to be flushed next: full entries, else the oldest while there are too many. */
  freezeDue(): readonly Series[];
  /** The frozen datapoints of the series are in chunks. */
  settle(series: Series): void;
  /** They are not: they go back to the head of their memtableEntry, and these to their places. */
  restore(picked: readonly Series[]): void;
  drop(series: Series): void;
  /** Every datapoint of log rows up to this one is in chunks, or frozen. */
  doneThrough(): number;
}

/** No memtable yet. */
export function createMemtable(limits: DatapointLimits): Memtable {
  // In order of their first row.
  let live = new Map<number, Series>();
  const full = new Set<Series>();
  let liveWeight = 0;
  let frozenWeight = 0;
  let logged = 0;
  let lastRow = 0;
  let isResting = false;

  function add(
    series: Series,
    datapoints: readonly Datapoint[],
    row: number,
    added: number = weightOf(datapoints),
  ): void {
    const { memtableEntry } = series;
    isResting = false;
    if (memtableEntry.datapoints.length === 0) {
      Object.assign(memtableEntry, { firstRow: row, startedAt: logged, isSorted: true });
      live.set(series.number, series);
    }
    addTo(memtableEntry, datapoints);
    memtableEntry.weight += added;
    series.sorted = undefined;
    liveWeight += added;
    logged += added;
    lastRow = row;
    if (memtableEntry.weight >= limits.memtableEntryWeightMax) full.add(series);
  }

  function oldest(): Series | undefined {
    return live.values().next().value;
  }

  function isTooMuch(): boolean {
    const first = oldest();
    if (first === undefined) return false;
    return (
      isResting ||
      liveWeight > limits.memtableWeightMax ||
      logged - first.memtableEntry.startedAt > limits.logWeightMax
    );
  }

  function nextDue(): Series | undefined {
    for (const series of full) return series;
    return isTooMuch() ? oldest() : undefined;
  }

  /** Takes datapoints of at most this weight, or one, from the head of the memtableEntry. */
  function freeze(series: Series, weightMax: number): number {
    const { memtableEntry } = series;
    let weight = 0;
    let count = 0;
    for (const datapoint of memtableEntry.datapoints) {
      const added = weigh(datapoint);
      if (count > 0 && weight + added > weightMax) break;
      weight += added;
      count += 1;
    }
    if (count === memtableEntry.datapoints.length) {
      series.frozen = memtableEntry;
      series.memtableEntry = emptyMemtableEntry();
      live.delete(series.number);
    } else {
      series.frozen = {
        ...memtableEntry,
        datapoints: memtableEntry.datapoints.splice(0, count),
        weight,
      };
      memtableEntry.weight -= weight;
    }
    series.sorted = undefined;
    if (series.memtableEntry.weight < limits.memtableEntryWeightMax) full.delete(series);
    liveWeight -= weight;
    frozenWeight += weight;
    return weight;
  }

  function thaw(series: Series): void {
    const { frozen, memtableEntry } = series;
    if (frozen === undefined) return;
    const datapoints = [...frozen.datapoints, ...memtableEntry.datapoints];
    const weight = frozen.weight + memtableEntry.weight;
    series.memtableEntry = { ...frozen, datapoints, weight, isSorted: false };
    series.frozen = undefined;
    series.sorted = undefined;
    live.set(series.number, series);
    if (weight >= limits.memtableEntryWeightMax) full.add(series);
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
    weights: () => weightsOf(live.values()),
    isDue: () => nextDue() !== undefined,
    rest() {
      const worthwhile = Math.max(limits.restWeightMin, limits.restEntryWeightMin * live.size);
      isResting = liveWeight >= worthwhile;
    },
    freezeDue() {
      const frozen: Series[] = [];
      let room = limits.flushWeightPerStep;
      while (room > 0 && frozen.length < limits.flushSeriesPerStep) {
        const series = nextDue();
        // A memtableEntry longer than one step comes again in the next.
        if (series === undefined || series.frozen !== undefined) break;
        room -= freeze(series, room);
        frozen.push(series);
      }
      return frozen;
    },
    settle(series) {
      if (series.frozen === undefined) return;
      series.flushed += series.frozen.datapoints.length;
      frozenWeight -= series.frozen.weight;
      series.frozen = undefined;
      series.sorted = undefined;
      series.sequenceNumbers = undefined;
      forgetLarge(series);
    },
    restore(picked) {
      for (const series of picked) thaw(series);
      live = byFirstRow(live);
    },
    drop(series) {
      liveWeight -= series.memtableEntry.weight;
      frozenWeight -= series.frozen?.weight ?? 0;
      series.memtableEntry = emptyMemtableEntry();
      series.frozen = undefined;
      live.delete(series.number);
      full.delete(series);
    },
    doneThrough() {
      const first = oldest();
      return first === undefined ? lastRow : first.memtableEntry.firstRow - 1;
    },
  };
}

function addTo(memtableEntry: MemtableEntry, datapoints: readonly Datapoint[]): void {
  let latest = newestOf(memtableEntry);
  for (const datapoint of datapoints) {
    const time = orderTime(datapoint);
    if (time < latest) memtableEntry.isSorted = false;
    else latest = time;
    memtableEntry.datapoints.push(datapoint);
  }
}

function weightsOf(all: Iterable<Series>): ReadonlyMap<DeviceId, number> {
  const weights = new Map<DeviceId, number>();
  for (const { deviceId, memtableEntry } of all) {
    weights.set(deviceId, (weights.get(deviceId) ?? 0) + memtableEntry.weight);
  }
  return weights;
}

function byFirstRow(live: ReadonlyMap<number, Series>): Map<number, Series> {
  const firstRowOf = ([, series]: [number, Series]) => series.memtableEntry.firstRow;
  return new Map([...live].sort((a, b) => firstRowOf(a) - firstRowOf(b)));
}

function newestOf(memtableEntry: MemtableEntry): number {
  const last = memtableEntry.datapoints.at(-1);
  return last === undefined ? Number.NEGATIVE_INFINITY : orderTime(last);
}
