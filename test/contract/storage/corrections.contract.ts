import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toDatapoints } from '../../../src/domain/datapoints/column-batch.ts';
import type { Correction } from '../../../src/domain/datapoints/corrections/correction.ts';
import { findInRange, findItems } from '../../../src/domain/datapoints/corrections/corrections.ts';
import { type Datapoint, orderTime } from '../../../src/domain/datapoints/datapoint.ts';
import {
  following,
  type Page,
  type Range,
  readDatapoints,
} from '../../../src/domain/datapoints/datapoint-store.ts';
import { searchDevices } from '../../../src/domain/datapoints/snapshots.ts';
import { parseFilter } from '../../../src/domain/devices/query-evaluation.ts';
import type { CorrectionId, Username } from '../../../src/domain/ids.ts';
import { limits } from '../../../src/domain/limits.ts';
import { ownPace } from '../../../src/lib/scheduling/fair-slices.ts';
import { createHexId } from '../../../src/lib/secret-token.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { aDevice, deviceId, noon, sensorId } from './builders.ts';
import { compareReads, correctedHistory } from './corrected-reads.ts';
import { allValues, at, push, sensor, untimed } from './datapoint-builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const aCorrection = (changes: Partial<Correction> = {}): Correction => ({
  ...{ id: createHexId() as CorrectionId, ...sensor(), kind: 'removed', items: [], count: 1 },
  ...{ from: noon, to: noon + 60_000, by: 'ana' as Username, createdAt: noon + 90_000 },
  reach: { until: noon + 90_000 },
  ...changes,
});

const everything = { who: 'everything' } as const;

const promises: Promises = {
  'corrections are listed in the order in which they were made, as they were': async ({
    corrections,
  }) => {
    const made = [
      aCorrection({ value: { a: ['\u0000', '\ud800'] } }),
      aCorrection({
        kind: 'corrected',
        items: [
          { time: noon + 5, isTimed: true, value: 'wet' },
          { time: noon + 9, isTimed: false, value: null },
        ],
      }),
      aCorrection({ value: null, reach: { until: 1, ahead: [noon, noon + 1] } }),
    ];
    for (const one of made) assert.equal(await corrections.insert(one), 'inserted');
    assert.deepEqual(await corrections.list(sensor()), made);
    assert.deepEqual(await corrections.list(sensor('d1', 's2')), []);
    const heads = made.map(({ items: _items, value: _value, ...head }) => head);
    assert.deepEqual(await corrections.heads(sensor()), heads);
    assert.deepEqual(await corrections.heads(sensor('d1', 's2')), []);
  },

  'a correction is removed once, from its own sensor': async ({ corrections }) => {
    const one = aCorrection();
    await corrections.insert(one);
    assert.equal(await corrections.remove(sensor('d1', 's2'), one.id), 'missing');
    assert.equal(await corrections.remove(sensor(), one.id), 'removed');
    assert.equal(await corrections.remove(sensor(), one.id), 'missing');
  },

  'there is none of a sensor that does not exist, and they go with theirs': async (storage) => {
    const { corrections, devices, datapoints } = storage;
    assert.equal(await corrections.insert(aCorrection(sensor('d9', 's1'))), 'missing');
    await corrections.insert(aCorrection());
    await devices.removeSensor(deviceId('d1'), sensorId('s1'), noon);
    await devices.putSensor(deviceId('d1'), { id: sensorId('s1') }, noon);
    assert.deepEqual(await corrections.list(sensor()), []);
    await datapoints.append([push([at(1, 1)])]);
    assert.deepEqual(await allValues(datapoints), [1]);
  },

  'a sensor has so many corrections, and so many bytes of them': async ({ corrections }) => {
    const text = 'x'.repeat(limits.correctionBytesPerSensorMax / 2);
    const large = {
      kind: 'corrected',
      items: [{ time: noon, isTimed: true, value: text }],
    } as const;
    assert.equal(await corrections.insert(aCorrection(large)), 'inserted');
    assert.equal(await corrections.insert(aCorrection(large)), 'too_many');
    const made = Array.from({ length: limits.correctionsPerSensorMax }, () =>
      corrections.insert(aCorrection({ ...sensor('d1', 's2') })),
    );
    assert.ok((await Promise.all(made)).every((outcome) => outcome === 'inserted'));
    assert.equal(await corrections.insert(aCorrection(sensor('d1', 's2'))), 'too_many');
  },

  'a search by values sees the corrected ones': async (storage) => {
    const { datapoints, devices, corrections } = storage;
    await datapoints.append([push([at(1, 5), at(2, 7)])]);
    const found = async (q: string): Promise<number> => {
      const page = { visibleTo: everything, limit: 9, offset: 0, filter: parseFilter(q) };
      const valuesWithin = { ...everything, granted: new Set<never>() };
      const stores = { store: devices, datapoints };
      return (await searchDevices(stores, { ...page, valuesWithin })).total;
    };
    await corrections.insert(aCorrection({ from: noon + 2_000, to: noon + 2_000 }));
    assert.equal(await found('s1==5'), 1);
    assert.equal(await found('s1==7'), 0);
  },

  'a large last value that is shown again is large in lists': async ({
    datapoints,
    corrections,
  }) => {
    const long = 'x'.repeat(2 * limits.briefValueCharactersMax);
    await datapoints.append([push([at(1, long)])]);
    await datapoints.append([push([at(2, 7)])]);
    await corrections.insert(aCorrection({ from: noon + 2_000, to: noon + 2_000 }));
    const brief = await datapoints.briefLastValues([deviceId('d1')]);
    assert.equal(brief.get(deviceId('d1'))?.get(sensorId('s1')), 'large');
    assert.equal((await datapoints.lastValue(sensor()))?.value, long);
  },

  'what is pushed while a correction is made is received after it': async ({
    datapoints,
    corrections,
  }) => {
    const hold = corrections.hold(sensor(), noon + 10_000);
    await hold.settled;
    await datapoints.append([push([at(1, 'during')]), push([at(1, 1)], sensor('d1', 's2'))]);
    hold.release();
    const page = { order: 'asc', skip: 0, limit: 9 } as const;
    const [during] = await readDatapoints(datapoints, sensor(), page);
    assert.equal(during?.receivedAt, noon + 10_001);
    const [other] = await readDatapoints(datapoints, sensor('d1', 's2'), page);
    assert.equal(other?.receivedAt, at(1, 1).receivedAt);
  },

  'whatever is pushed, corrected and undone, reads are those of a plain list': async (storage) => {
    let round = 0;
    const property = fc.asyncProperty(commands, async (given) => {
      round += 1;
      const name = sensorId(`r${round}`);
      await storage.devices.putSensor(deviceId('d1'), { id: name }, noon);
      const model = createModel(storage, sensor('d1', name));
      for (const one of given) await model.run(one);
      await model.compare();
    });
    await fc.assert(property, { numRuns: 60 });
  },

  'whatever was corrected, the pages and sums of 3,000 minutes are those of a list': async (
    storage,
  ) => {
    let round = 0;
    const property = fc.asyncProperty(correctedHistory, async (given) => {
      round += 1;
      await compareReads(storage, `long${round}`, given);
    });
    await fc.assert(property, { numRuns: readRounds, interruptAfterTimeLimit: 1_000 * readRounds });
  },
};

/** For longer runs by hand. */
const readRounds = Number(process.env['CORRECTION_ROUNDS'] ?? 12);

const time = fc.integer({ min: 0, max: 12 });
const value = fc.constantFrom(1, 2, 'text', null, { a: 1 });
const aPush = fc.record({
  do: fc.constant('push' as const),
  at: fc.array(time, { minLength: 1, maxLength: 6 }),
  value,
});
const command = fc.oneof(
  { weight: 4, arbitrary: aPush },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('untimed' as const), value }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('remove' as const), from: time, length: fc.integer({ min: 0, max: 4 }) },
      value: fc.option(value, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('correct' as const), value },
      at: fc.array(time, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), which: fc.nat(5) }) },
);
const commands = fc.array(command, { minLength: 10, maxLength: 40, size: 'max' });

type Command = typeof command extends fc.Arbitrary<infer One> ? One : never;

interface Entry {
  readonly datapoint: Datapoint;
  /** What it showed after each correction that is not undone; undefined: nothing. */
  readonly shown: { readonly id: CorrectionId; readonly value: Datapoint['value'] | undefined }[];
}

const textOf = (one: Datapoint['value']): string => JSON.stringify(one);

/** A naive list beside the store: each datapoint with what it shows. */
function createModel({ datapoints, corrections, pushedDatapoints }: Storage, ref = sensor()) {
  const entries: Entry[] = [];
  const made: Correction[] = [];
  let now = noon + 60_000;

  const shownBy = ({ datapoint, shown }: Entry): Datapoint['value'] | undefined => {
    const last = shown.at(-1);
    return last === undefined ? datapoint.value : last.value;
  };

  async function store(pushed: readonly Datapoint[]): Promise<void> {
    const [outcome] = await datapoints.append([push(pushed, ref)]);
    assert.equal(outcome?.kind, 'stored');
    for (const datapoint of outcome?.kind === 'stored' ? toDatapoints(outcome.fresh) : []) {
      entries.push({ datapoint, shown: [] });
    }
  }

  async function file(
    find: (search: Parameters<typeof findInRange>[0]) => Promise<Partial<Correction> | undefined>,
    change: (entry: Entry) => readonly [Datapoint['value'] | undefined] | undefined,
  ): Promise<void> {
    const hold = corrections.hold(ref, now);
    const search = {
      ...{ datapoints, sensor: ref, until: now, clock: { now: () => now }, pace: ownPace() },
    };
    const found = await find(search);
    const touched = entries.filter((entry) => change(entry) !== undefined);
    assert.equal(found?.count ?? 0, touched.length);
    if (found !== undefined) {
      const one = aCorrection({ ...ref, ...found, createdAt: now });
      assert.equal(await corrections.insert(one), 'inserted');
      made.push(one);
      for (const entry of touched) {
        const [shown] = change(entry) ?? [];
        entry.shown.push({ id: one.id, value: shown });
      }
    }
    hold.release();
  }

  const isAt = (seconds: number) => (entry: Entry) =>
    entry.datapoint.timestamp === noon + seconds * 1_000;

  async function undo(which: number): Promise<void> {
    const one = made[which];
    const overlaps = (other: Correction) =>
      one !== undefined && other.from <= one.to && one.from <= other.to;
    if (one === undefined || made.slice(which + 1).some(overlaps)) return;
    assert.equal(await corrections.remove(ref, one.id), 'removed');
    made.splice(which, 1);
    for (const { shown } of entries) {
      const place = shown.findIndex(({ id }) => id === one.id);
      if (place >= 0) shown.splice(place, 1);
    }
  }

  async function readAll(order: Page['order'], limit: number, range: Range): Promise<unknown[]> {
    const shown: unknown[] = [];
    let page: Page = { ...range, order, skip: 0, limit };
    while (true) {
      const { columns, isCut } = await datapoints.scan(ref, page, 8);
      for (let row = 0; row < columns.count; row += 1) shown.push(columns.at(row));
      if (columns.count === 0 || (columns.count < limit && !isCut)) return shown;
      page = following(page, columns.count, (row) => columns.times[row] ?? 0);
    }
  }

  return {
    async run(one: Command): Promise<void> {
      // Sometimes in the same millisecond.
      now += one.do === 'undo' ? 0 : entries.length % 2;
      if (one.do === 'push') {
        const timed = one.at.map((seconds) => ({ ...at(seconds, one.value), receivedAt: now }));
        if (timed.length > 0) await store(timed);
      } else if (one.do === 'untimed') {
        await store([{ ...untimed(0, one.value), receivedAt: now }]);
      } else if (one.do === 'remove') {
        const range = {
          from: noon + one.from * 1_000,
          to: noon + (one.from + one.length) * 1_000,
        };
        const isWanted = (entry: Entry): boolean => {
          const shown = shownBy(entry);
          const when = orderTime(entry.datapoint);
          if (shown === undefined || when < range.from || when > range.to) return false;
          return one.value === undefined || textOf(one.value) === textOf(shown);
        };
        await file(
          async (search) => {
            const touched = await findInRange(search, range, one.value);
            return touched && { ...touched, ...(one.value !== undefined && { value: one.value }) };
          },
          (entry) => (isWanted(entry) ? [undefined] : undefined),
        );
      } else if (one.do === 'correct') {
        const items = [...new Set(one.at)].map((seconds) => ({
          ...{ time: noon + seconds * 1_000, isTimed: true, value: one.value },
        }));
        await file(
          async (search) => {
            const { touched } = await findItems(search, items);
            return touched && { ...touched, kind: 'corrected', items };
          },
          (entry) =>
            shownBy(entry) !== undefined && one.at.some((seconds) => isAt(seconds)(entry))
              ? [one.value]
              : undefined,
        );
      } else {
        await undo(one.which);
      }
    },
    async compare(): Promise<void> {
      const ordered = entries.toSorted((a, b) => orderTime(a.datapoint) - orderTime(b.datapoint));
      for (const range of [{}, { from: noon + 3_000, to: noon + 8_000 }, { from: noon + 6_000 }]) {
        const { from = -Infinity, to = Infinity }: Range = range;
        const expected = ordered.flatMap((entry) => {
          const when = orderTime(entry.datapoint);
          const shown = shownBy(entry);
          const isIn = when >= from && when <= to && shown !== undefined;
          return isIn ? [{ ...entry.datapoint, value: shown }] : [];
        });
        assert.equal(await datapoints.count(ref, range), expected.length);
        assert.deepEqual(await readAll('asc', 2, range), expected);
        assert.deepEqual(await readAll('desc', 3, range), expected.toReversed());
        const page = { ...range, order: 'desc', skip: 1, limit: 4 } as const;
        assert.deepEqual(
          await readDatapoints(datapoints, ref, page),
          expected.toReversed().slice(1, 5),
        );
      }
      const raw = await readDatapoints(pushedDatapoints, ref, {
        order: 'asc',
        skip: 0,
        limit: 1_000,
      });
      assert.deepEqual(
        raw,
        ordered.map(({ datapoint, shown }) => {
          const last = shown.at(-1);
          return last === undefined ? datapoint : { ...datapoint, correction: last.id };
        }),
      );
    },
  };
}

export function correctionsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, async ({ devices }) => {
    const sensors = ['s1', 's2'].map((id) => ({ id: sensorId(id) }));
    await devices.insert(aDevice('d1', { sensors }));
  });
}
