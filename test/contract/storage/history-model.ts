import assert from 'node:assert/strict';
import { toDatapoints } from '../../../src/domain/datapoints/column-batch.ts';
import type { Correction } from '../../../src/domain/datapoints/corrections/correction.ts';
import { findInRange, findItems } from '../../../src/domain/datapoints/corrections/corrections.ts';
import {
  type Datapoint,
  lastAmong,
  orderTime,
  type SensorRef,
} from '../../../src/domain/datapoints/datapoint.ts';
import { toDatapointColumns } from '../../../src/domain/datapoints/datapoint-columns.ts';
import { type Page, readDatapoints } from '../../../src/domain/datapoints/datapoint-store.ts';
import { dayMs, hourMs, startOfDay } from '../../../src/domain/datapoints/retention/retention.ts';
import { mayStandFor } from '../../../src/domain/datapoints/standing.ts';
import type { SummarisedPart } from '../../../src/domain/datapoints/stretches.ts';
import { counterParts, growthBefore } from '../../../src/domain/datapoints/summary-reader.ts';
import type { CorrectionId, Username } from '../../../src/domain/ids.ts';
import { ownPace } from '../../../src/lib/scheduling/fair-slices.ts';
import { createHexId } from '../../../src/lib/secret-token.ts';
import { noon } from './builders.ts';
import { push } from './datapoint-builders.ts';
import type { HistoryCounts, HistoryEngine } from './history-engine.ts';
import { gridMs, type HistoryStep, midnight } from './history-steps.ts';
import { bucketsOf, names, sumsOf } from './history-sums.ts';

interface Entry {
  readonly datapoint: Datapoint;
  /** What it showed after each correction that is not undone; undefined: nothing. */
  readonly shown: { readonly id: CorrectionId; readonly value: Datapoint['value'] | undefined }[];
}

const textOf = (one: Datapoint['value']): string => JSON.stringify(one);
const hourOf = (one: Datapoint): number => Math.floor(orderTime(one) / hourMs) * hourMs;

const shownBy = ({ datapoint, shown }: Entry): Datapoint | undefined => {
  const last = shown.at(-1);
  if (last === undefined) return datapoint;
  return last.value === undefined ? undefined : { ...datapoint, value: last.value };
};

/** What there should be. */
interface Lists {
  entries: Entry[];
  made: Correction[];
  /** What was pushed last; retention may have taken it from the others. */
  last: Entry | undefined;
  /** What was shown of hours that retention took. */
  readonly closed: Map<number, readonly Datapoint[]>;
}

/** What is not there yet of a push, and all of it but what the same push brought before. */
function compareWith(there: readonly Entry[], pushed: readonly Datapoint[], counts: HistoryCounts) {
  const newest = Math.max(...there.map(({ datapoint }) => orderTime(datapoint)));
  const fresh: Datapoint[] = [];
  const said: Datapoint[] = [];
  for (const one of pushed) {
    const isSame = (other: Datapoint): boolean =>
      one.timestamp !== undefined &&
      one.timestamp === other.timestamp &&
      textOf(one.value) === textOf(other.value);
    if (!said.some(isSame)) said.push(one);
    if (fresh.some(isSame) || there.some(({ datapoint }) => isSame(datapoint))) {
      counts.repeated += 1;
      continue;
    }
    if (orderTime(one) < newest) counts.late += 1;
    fresh.push(one);
  }
  return { fresh, said };
}

/** Carries steps out on an engine and on plain lists beside it, and compares them. */
export function createHistoryModel(engine: HistoryEngine, ref: SensorRef, counts: HistoryCounts) {
  const lists: Lists = { entries: [], made: [], last: undefined, closed: new Map() };
  let now = noon + 10 * dayMs;
  let latest: readonly Datapoint[] = [];

  async function store(pushed: readonly Datapoint[]): Promise<void> {
    if (pushed.length === 0) return;
    const [outcome] = await engine.storage().datapoints.append([push(pushed, ref)]);
    const { fresh, said } = compareWith(lists.entries, pushed, counts);
    const stored = outcome?.kind === 'stored' ? toDatapoints(outcome.fresh) : [];
    const pushedOf = ({ timestamp, value }: Datapoint) => [timestamp, value];
    assert.deepEqual(stored.map(pushedOf), fresh.map(pushedOf));
    // Of the instant of a correction it is received after it.
    for (const [at, one] of stored.entries()) {
      const { receivedAt } = fresh[at] ?? one;
      assert.ok(one.receivedAt >= receivedAt, `${one.receivedAt} is before ${receivedAt}`);
      if (one.receivedAt > receivedAt) counts.moved += 1;
    }
    counts.pushed += fresh.length;
    const entries = stored.map((datapoint): Entry => ({ datapoint, shown: [] }));
    lists.entries.push(...entries);
    const last = lastAmong(said);
    const at = last === undefined ? -1 : fresh.indexOf(last);
    lists.last = entries[at] ?? lists.last;
  }

  async function file(
    kind: 'removed' | 'corrected',
    find: (search: Parameters<typeof findInRange>[0]) => Promise<Partial<Correction> | undefined>,
    change: (shown: Datapoint) => { readonly to: Datapoint['value'] | undefined } | undefined,
  ): Promise<void> {
    const { corrections, datapoints } = engine.storage();
    const hold = corrections.hold(ref, now);
    const clock = { now: () => now };
    const found = await find({ datapoints, sensor: ref, until: now, clock, pace: ownPace() });
    const touched = lists.entries.filter((entry) => {
      const shown = shownBy(entry);
      return shown !== undefined && change(shown) !== undefined;
    });
    assert.equal(found?.count ?? 0, touched.length);
    if (found !== undefined) {
      const one: Correction = {
        ...{ id: createHexId() as CorrectionId, ...ref, kind, items: [], count: 1 },
        ...{ from: noon, to: noon, by: 'ana' as Username, createdAt: now, reach: { until: now } },
        ...found,
      };
      assert.equal(await corrections.insert(one), 'inserted');
      lists.made.push(one);
      counts[kind] += 1;
      for (const entry of touched) {
        const shown = shownBy(entry);
        const changed = shown && change(shown);
        entry.shown.push({ id: one.id, value: changed?.to });
      }
    }
    hold.release();
  }

  async function retain(one: HistoryStep & { readonly do: 'retain' }): Promise<void> {
    const rawBefore = await rawLimit(engine, ref, lists, midnight + one.before * dayMs);
    const hourlyBefore =
      one.hourly === undefined ? undefined : midnight + (one.before - one.hourly) * dayMs;
    const wanted = { rawBefore: midnight + one.before * dayMs };
    const limits = { ...wanted, ...(hourlyBefore !== undefined && { hourlyBefore }) };
    let taken = 0;
    let isDone = false;
    for (let steps = 0, turn = 0; !isDone; turn += 1) {
      assert.ok(turn < 2_000, 'retention does not end');
      const step = await engine.storage().retaining.step(ref, limits);
      taken += step.datapoints;
      counts.hoursKept += step.hoursKept;
      counts.hoursGone += step.hours;
      if (step.state === 'wait') await new Promise((resolve) => setTimeout(resolve, 1));
      if (step.state === 'more') steps += 1;
      isDone = step.state === 'done';
      if (step.state === 'more' && steps === one.steps) {
        counts.interrupted += 1;
        await engine.crash();
        // Whatever was taken by now, all of it counts as before.
        if (hourlyBefore === undefined) await compareSums(engine, ref, lists, counts);
      }
    }
    counts.taken += taken;
    const { corrections } = engine.storage();
    const left = new Set((await corrections.list(ref)).map(({ id }) => id));
    assert.equal(taken, takeFrom(lists, { rawBefore, hourlyBefore, left }));
  }

  return {
    async run(one: HistoryStep): Promise<void> {
      if (!('isAtOnce' in one && one.isAtOnce === true)) now += 1;
      if (one.do === 'push') {
        latest = one.values.map(([at, given]) => ({
          ...{ value: given, timestamp: midnight + at * gridMs, receivedAt: now },
        }));
        await store(latest);
      } else if (one.do === 'again') {
        await store(latest.map((datapoint) => ({ ...datapoint, receivedAt: now })));
      } else if (one.do === 'untimed') {
        await store([{ value: one.value, receivedAt: now }]);
      } else if (one.do === 'remove') {
        const from = midnight + one.from * gridMs;
        const range = { from, to: from + one.length * gridMs };
        await file(
          'removed',
          async (search) => {
            const touched = await findInRange(search, range, one.value);
            return touched && { ...touched, ...(one.value !== undefined && { value: one.value }) };
          },
          (shown) => {
            const isIn = orderTime(shown) >= range.from && orderTime(shown) <= range.to;
            const isWanted = one.value === undefined || textOf(one.value) === textOf(shown.value);
            return isIn && isWanted ? { to: undefined } : undefined;
          },
        );
      } else if (one.do === 'correct') {
        const times = new Set(one.at.map((at) => midnight + at * gridMs));
        const items = [...times].map((time) => ({ time, isTimed: true, value: one.value }));
        await file(
          'corrected',
          async (search) => {
            const { touched } = await findItems(search, items);
            return touched && { ...touched, items };
          },
          ({ timestamp }) =>
            timestamp !== undefined && times.has(timestamp) ? { to: one.value } : undefined,
        );
      } else if (one.do === 'undo') {
        if (await undo(engine, ref, lists, one.which)) counts.undone += 1;
      } else if (one.do === 'retain') {
        await retain(one);
      } else if (one.do === 'crash') {
        await engine.crash();
        counts.crashed += 1;
      } else {
        counts.rewritten += await engine.rewrite();
      }
    },
    compare: () => compareAll(engine, ref, lists, counts),
  };
}

/** Undoes a correction, if the rules let it; answers whether they did. */
async function undo(
  engine: HistoryEngine,
  ref: SensorRef,
  { entries, made }: Lists,
  which: number,
): Promise<boolean> {
  const one = made[which];
  const overlaps = (other: Correction) =>
    one !== undefined && other.from <= one.to && one.from <= other.to;
  if (one === undefined || made.slice(which + 1).some(overlaps)) return false;
  assert.equal(await engine.storage().corrections.remove(ref, one.id), 'removed');
  made.splice(which, 1);
  for (const { shown } of entries) {
    const at = shown.findIndex(({ id }) => id === one.id);
    if (at >= 0) shown.splice(at, 1);
  }
  return true;
}

/** Takes what retention takes from the lists; answers how many datapoints these are. */
function takeFrom(
  lists: Lists,
  taken: {
    readonly rawBefore: number;
    readonly hourlyBefore: number | undefined;
    readonly left: ReadonlySet<CorrectionId>;
  },
): number {
  const { rawBefore, hourlyBefore = Number.NEGATIVE_INFINITY, left } = taken;
  const { entries, closed, made } = lists;
  const old = entries.filter(({ datapoint }) => orderTime(datapoint) < rawBefore);
  lists.entries = entries.filter((entry) => !old.includes(entry));
  for (const begin of [...closed.keys()]) if (begin < hourlyBefore) closed.delete(begin);
  const shown = old.flatMap((entry) => shownBy(entry) ?? []);
  for (const [begin, those] of Map.groupBy(shown, hourOf)) {
    if (begin >= hourlyBefore && !closed.has(begin)) closed.set(begin, those);
  }
  // One that is about older datapoints alone goes; while nothing was taken, it may stay.
  for (const { id, to } of made) if (to >= rawBefore) assert.ok(left.has(id));
  lists.made = made.filter(({ id }) => left.has(id));
  return old.length;
}

/** What a corrected last value is made of stays, with all that is newer. */
async function rawLimit(
  engine: HistoryEngine,
  ref: SensorRef,
  lists: Lists,
  wanted: number,
): Promise<number> {
  const { datapoints, pushedDatapoints } = engine.storage();
  if (lists.made.length === 0) return wanted;
  const raw = await pushedDatapoints.lastValue(ref);
  const shown = await datapoints.lastValue(ref);
  if (raw === undefined) return wanted;
  const isSame =
    shown !== undefined &&
    orderTime(shown) === orderTime(raw) &&
    textOf(shown.value) === textOf(raw.value);
  return isSame
    ? wanted
    : Math.min(wanted, startOfDay(Math.min(orderTime(raw), orderTime(shown ?? raw))));
}

const inOrder = (lists: Lists): readonly Entry[] =>
  lists.entries.toSorted((a, b) => orderTime(a.datapoint) - orderTime(b.datapoint));

async function* inTurn(parts: readonly SummarisedPart[]): AsyncGenerator<SummarisedPart> {
  yield* parts;
}

async function* rowsOfRange(engine: HistoryEngine, ref: SensorRef, from: number, to: number) {
  const page = { order: 'asc', skip: 0, limit: 10_000, from, to } as const;
  yield (await engine.storage().datapoints.scan(ref, page, Number.POSITIVE_INFINITY)).columns;
}

async function compareSums(
  engine: HistoryEngine,
  ref: SensorRef,
  lists: Lists,
  counts: HistoryCounts,
): Promise<void> {
  const live = inOrder(lists)
    .flatMap((entry) => shownBy(entry) ?? [])
    .filter((one) => !lists.closed.has(hourOf(one)));
  const counted = [...[...lists.closed.values()].flat(), ...live];
  counted.sort((a, b) => orderTime(a) - orderTime(b));
  for (const each of [hourMs, dayMs]) {
    const expected = await sumsOf(inTurn([toDatapointColumns(counted)]), each);
    const parts: SummarisedPart[] = [];
    const mayStand = mayStandFor({ aggregates: names, bucketOf: bucketsOf(each) }, undefined);
    const room = {
      ...{ rowsMax: 5, charactersMax: 1_000 },
      mayStand(...stretch: Parameters<typeof mayStand>): boolean {
        const stands = mayStand(...stretch);
        if (stands) counts.stood += 1;
        return stands;
      },
    };
    for (
      let page: Page | undefined = { order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY };
      page !== undefined;
    ) {
      const step = await engine.storage().datapoints.summarise(ref, page, room);
      parts.push(...step.parts);
      page = step.next;
    }
    // A stretch stands in a counter where its ends are no glitches: so is it read by the service.
    const reads = {
      page: () => inTurn(parts),
      rows: (from: number, to: number) => rowsOfRange(engine, ref, from, to),
    };
    const growth = await growthBefore(reads);
    assert.deepEqual(await sumsOf(counterParts(reads, growth), each, growth), expected);
  }
}

async function compareAll(
  engine: HistoryEngine,
  ref: SensorRef,
  lists: Lists,
  counts: HistoryCounts,
): Promise<void> {
  const { datapoints, pushedDatapoints } = engine.storage();
  const all = { order: 'asc', skip: 0, limit: 10_000 } as const;
  const shown = inOrder(lists).flatMap((entry) => shownBy(entry) ?? []);
  assert.deepEqual(await readDatapoints(datapoints, ref, all), shown);
  assert.equal(await datapoints.count(ref, {}), shown.length);
  const page = { order: 'desc', skip: 1, limit: 4 } as const;
  assert.deepEqual(await readDatapoints(datapoints, ref, page), shown.toReversed().slice(1, 5));
  const pushed = (await readDatapoints(pushedDatapoints, ref, all)).map(
    ({ correction: _, ...datapoint }: Datapoint & { correction?: unknown }) => datapoint,
  );
  assert.deepEqual(
    pushed,
    inOrder(lists).map(({ datapoint }) => datapoint),
  );
  const { last } = lists;
  assert.deepEqual(await pushedDatapoints.lastValue(ref), last?.datapoint);
  // Of one that retention took, nobody can say any more what a later correction was about.
  if (last !== undefined && lists.entries.includes(last)) {
    const lastShown = shownBy(last) ?? shown.at(-1);
    assert.deepEqual(await datapoints.lastValue(ref), lastShown);
    if (shownBy(last) === undefined) counts.hidden += 1;
  }
  await compareSums(engine, ref, lists, counts);
}
