import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { asNumber, type JsonValue } from '../../lib/json.ts';
import { type Calibration, calibrate } from '../devices/calibration.ts';
import { type Datapoint, orderTime } from './datapoint.ts';
import { toDatapointColumns } from './datapoint-columns.ts';
import { addToHours, type HourTally, hoursOf, stretchesOf } from './retention/hours.ts';
import { calibratedRun } from './standing.ts';
import { kindStepsMax, kindsOfList, listOfKinds } from './stretches.ts';

const begin = Date.UTC(2026, 0, 1, 2);

const datapoints = (values: readonly JsonValue[]): readonly Datapoint[] =>
  values.map((value, at) => ({ value, timestamp: begin + at, receivedAt: begin + at }));

/** The hour of some values, taken in two steps. */
function hourOf(values: readonly JsonValue[], cut = values.length): HourTally {
  const all = datapoints(values);
  const there = new Map<number, HourTally>();
  for (const some of [all.slice(0, cut), all.slice(cut)]) {
    const made = new Map<number, HourTally>();
    addToHours(toDatapointColumns(some), { there, open: begin, made });
    for (const [at, hour] of made) there.set(at, hour);
  }
  assert.ok(all.every((one) => orderTime(one) < begin + 3_600_000));
  const hour = there.get(begin);
  assert.ok(hour !== undefined);
  return hour;
}

/** What an hour comes to as a calibration shows it. */
function shown(hour: HourTally, calibration: Calibration) {
  const { stretches } = calibratedRun(
    { stretches: stretchesOf([hour]), from: 0, to: 1 },
    calibration,
  );
  const [figures] = hoursOf(stretches);
  assert.ok(figures !== undefined);
  const { min, max, sum, first, last, rise, fall } = figures;
  return { min, max, sum, first, last, rise, fall };
}

/** The same of the values, one by one. */
function byHand(values: readonly JsonValue[], calibration: Calibration) {
  const real = values.map((value) => asNumber(calibrate(calibration, value)) ?? 0);
  const steps = real.slice(1).map((one, at) => one - (real[at] ?? 0));
  return {
    ...{ min: Math.min(...real), max: Math.max(...real), first: real[0], last: real.at(-1) },
    sum: real.reduce((sum, one) => sum + one, 0),
    rise: steps.filter((step) => step > 0).reduce((sum, step) => sum + step, 0),
    fall: steps.filter((step) => step < 0).reduce((sum, step) => sum - step, 0),
  };
}

const throughZero = (realValue: number): Calibration => ({
  points: [
    { sensorValue: 0, realValue: 0 },
    { sensorValue: 10, realValue },
  ],
  spelling: 'ends',
});

test('in an hour with both kinds of numbers, calibration changes JSON numbers alone', () => {
  const doubled = throughZero(20);
  assert.deepEqual(shown(hourOf([5, '40']), doubled), {
    ...{ min: 10, max: 40, sum: 50, first: 10, last: 40, rise: 30, fall: 0 },
  });
  assert.deepEqual(shown(hourOf(['40', 5]), doubled), {
    ...{ min: 10, max: 40, sum: 50, first: 40, last: 10, rise: 0, fall: 30 },
  });
});

test('an hour comes to what its values do, whatever kinds follow each other', () => {
  const values = fc.array(
    fc.oneof(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }).map(String)),
    { minLength: 1, maxLength: kindStepsMax },
  );
  const slope = fc.integer({ min: -3, max: 3 }).map((times) => throughZero(10 * times));
  fc.assert(
    fc.property(values, fc.nat(kindStepsMax), slope, (some, cut, calibration) => {
      const hour = hourOf(some, Math.min(cut, some.length));
      assert.equal(hour.kinds !== undefined, hour.numbers > 0 && hour.textNumbers > 0);
      const written = hour.kinds && kindsOfList(listOfKinds(hour.kinds));
      assert.deepEqual(written, hour.kinds);
      const plain = (figures: object) => JSON.stringify(Object.entries(figures).toSorted());
      assert.equal(plain(shown(hour, calibration)), plain(byHand(some, calibration)));
    }),
    { numRuns: 500 },
  );
});

test('of more steps between the kinds than are kept, increase is that of their averages', () => {
  const values = Array.from({ length: 1_000 }, (_, n) => (n % 2 === 0 ? 5 : '40'));
  const calibration = throughZero(20);
  assert.deepEqual(shown(hourOf(values), calibration), {
    ...byHand(values, calibration),
  });
  const uneven = values.map((value, n) => (n % 4 === 0 ? 30 : value));
  const { rise, fall, ...rest } = shown(hourOf(uneven), calibration);
  const { rise: riseByHand, fall: fallByHand, ...restByHand } = byHand(uneven, calibration);
  assert.deepEqual(rest, restByHand);
  assert.ok(rise < riseByHand && fall < fallByHand);
  assert.ok(Math.abs(rise - fall - (riseByHand - fallByHand)) < 1e-9);
});

test('an hour that an earlier version summed up goes on without its kinds', () => {
  const { kinds: _, ...old } = hourOf([5, '40']);
  const made = new Map<number, HourTally>();
  const more = toDatapointColumns(datapoints([6, '7']));
  addToHours(more, { there: new Map([[begin, old]]), open: begin, made });
  const hour = made.get(begin);
  assert.equal(hour?.kinds, undefined);
  assert.deepEqual([hour?.count, hour?.sum], [4, 58]);
});
