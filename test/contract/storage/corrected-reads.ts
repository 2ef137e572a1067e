import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Correction } from '../../../src/domain/datapoints/corrections/correction.ts';
import { findInRange, findItems } from '../../../src/domain/datapoints/corrections/corrections.ts';
import { type Datapoint, orderTime } from '../../../src/domain/datapoints/datapoint.ts';
import { toDatapointColumns } from '../../../src/domain/datapoints/datapoint-columns.ts';
import { type Page, readDatapoints } from '../../../src/domain/datapoints/datapoint-store.ts';
import { mayStandFor } from '../../../src/domain/datapoints/standing.ts';
import type { SummarisedPart } from '../../../src/domain/datapoints/stretches.ts';
import type { CorrectionId, Username } from '../../../src/domain/ids.ts';
import { ownPace } from '../../../src/lib/scheduling/fair-slices.ts';
import { createHexId } from '../../../src/lib/secret-token.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { noon, sensorId } from './builders.ts';
import { push, sensor } from './datapoint-builders.ts';
import { bucketsOf, names, sumsOf } from './history-sums.ts';

const minuteMs = 60_000;
const minutes = 3_000;
const until = noon + 100 * minutes * minuteMs;
const timeAt = (minute: number): number => noon + minute * minuteMs;
const valueAt = (minute: number): number => Math.floor(minute / 7) % 5;

const minute = fc.integer({ min: -10, max: minutes + 10 });
const length = fc.oneof(fc.nat(20), fc.nat(minutes));
const value = fc.constantFrom(0, 1, 2, 'wet', null);

/** A change of a long history, and what part of it. */
const change = fc.oneof(
  fc.record({ do: fc.constant('remove' as const), minute, length }),
  fc.record({ do: fc.constant('removeValue' as const), minute, length, value }),
  fc.record({
    ...{ do: fc.constant('correct' as const), value },
    at: fc.array(minute, { minLength: 1, maxLength: 60, size: 'max' }),
  }),
  fc.record({ do: fc.constant('late' as const), minute, length }),
);

const read = fc.record({
  order: fc.constantFrom('asc' as const, 'desc' as const),
  skip: fc.oneof(fc.nat(3), fc.nat(minutes)),
  limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(minutes)),
  from: fc.option(minute, { nil: undefined }),
  to: fc.option(minute, { nil: undefined }),
});

/** Some changes of 3,000 minutes of a sensor, and reads in the end. */
export const correctedHistory = fc.tuple(
  fc.array(change, { minLength: 1, maxLength: 8, size: 'max' }),
  fc.array(read, { minLength: 10, maxLength: 20, size: 'max' }),
);

type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;
type Read = typeof read extends fc.Arbitrary<infer One> ? One : never;

interface Entry {
  readonly datapoint: Datapoint;
  shown: Datapoint['value'] | undefined;
}

/** Carries the changes out on a storage and on a plain list, and compares what is read of them. */
export async function compareReads(
  storage: Storage,
  name: string,
  [changes, reads]: readonly [readonly Change[], readonly Read[]],
): Promise<void> {
  const ref = sensor('d1', name);
  await storage.devices.putSensor(ref.deviceId, { id: sensorId(name) }, noon);
  const { datapoints, corrections } = storage;
  const entries: Entry[] = [];
  let now = until;

  async function store(first: number, end: number, more: number): Promise<void> {
    const pushed = Array.from({ length: Math.max(0, end - first) }, (_, n): Datapoint => {
      const at = { timestamp: timeAt(first + n), receivedAt: now };
      return { value: valueAt(first + n) + more, ...at };
    });
    if (pushed.length === 0) return;
    await datapoints.append([push(pushed, ref)]);
    for (const datapoint of pushed) entries.push({ datapoint, shown: datapoint.value });
  }

  async function file(found: Partial<Correction> | undefined): Promise<void> {
    if (found === undefined) return;
    const one: Correction = {
      ...{ id: createHexId() as CorrectionId, ...ref, kind: 'removed', items: [], count: 1 },
      ...{ from: 0, to: 0, by: 'ana' as Username, createdAt: now, reach: { until: now } },
      ...found,
    };
    assert.equal(await corrections.insert(one), 'inserted');
  }

  async function carryOut(one: Change): Promise<void> {
    now += 10;
    const clock = { now: () => now };
    const search = { datapoints, sensor: ref, until: now, clock, pace: ownPace() };
    if (one.do === 'late') {
      await store(one.minute, one.minute + one.length, now - until);
      return;
    }
    if (one.do === 'correct') {
      const times = new Set(one.at.map(timeAt));
      const items = [...times].map((time) => ({ time, isTimed: true, value: one.value }));
      const { touched } = await findItems(search, items);
      await file(touched && { ...touched, kind: 'corrected', items });
      for (const entry of entries) {
        const isAbout = times.has(orderTime(entry.datapoint)) && entry.shown !== undefined;
        if (isAbout) entry.shown = one.value;
      }
      return;
    }
    const range = { from: timeAt(one.minute), to: timeAt(one.minute + one.length) };
    const only = one.do === 'remove' ? {} : { value: one.value };
    const touched = await findInRange(search, range, only.value);
    await file(touched && { ...touched, ...only });
    for (const entry of entries) {
      const time = orderTime(entry.datapoint);
      const isWanted = one.do === 'remove' || entry.shown === one.value;
      if (isWanted && time >= range.from && time <= range.to) entry.shown = undefined;
    }
  }

  await store(0, minutes, 0);
  for (const one of changes) await carryOut(one);
  const shown = entries
    .toSorted((a, b) => orderTime(a.datapoint) - orderTime(b.datapoint))
    .flatMap((entry) =>
      entry.shown === undefined ? [] : [{ ...entry.datapoint, value: entry.shown }],
    );
  for (const { from, to, ...page } of reads) {
    const range = {
      ...(from !== undefined && { from: timeAt(from) }),
      ...(to !== undefined && { to: timeAt(to) }),
    };
    const inside = shown.filter(
      ({ timestamp = 0 }) =>
        timestamp >= (range.from ?? timestamp) && timestamp <= (range.to ?? timestamp),
    );
    const ordered = page.order === 'asc' ? inside : inside.toReversed();
    assert.equal(await datapoints.count(ref, range), inside.length);
    const found = await readDatapoints(datapoints, ref, { ...range, ...page });
    assert.deepEqual(found, ordered.slice(page.skip, page.skip + page.limit));
  }
  await compareSums(storage, ref, shown);
}

async function compareSums(
  { datapoints }: Storage,
  ref: ReturnType<typeof sensor>,
  shown: readonly Datapoint[],
): Promise<void> {
  const each = 2 * 3_600_000;
  const plan = names.filter((name) => name !== 'increase');
  const mayStand = mayStandFor({ aggregates: plan, bucketOf: bucketsOf(each) }, undefined);
  const parts: SummarisedPart[] = [];
  const all: Page = { order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY };
  for (let page: Page | undefined = all; page !== undefined; ) {
    const room = { rowsMax: 100, charactersMax: 10_000, mayStand };
    const step = await datapoints.summarise(ref, page, room);
    parts.push(...step.parts);
    page = step.next;
  }
  const withoutGrowth = (sums: unknown[]) => sums.map((one) => (one as unknown[]).slice(0, 5));
  assert.deepEqual(
    withoutGrowth(await sumsOf(inTurn(parts), each)),
    withoutGrowth(await sumsOf(inTurn([toDatapointColumns(shown)]), each)),
  );
}

async function* inTurn(parts: readonly SummarisedPart[]): AsyncGenerator<SummarisedPart> {
  yield* parts;
}
