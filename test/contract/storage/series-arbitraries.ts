import fc from 'fast-check';
import { toDatapoints } from '../../../src/domain/datapoints/column-batch.ts';
import { type Datapoint, orderTime } from '../../../src/domain/datapoints/datapoint.ts';
import type { DatapointStore } from '../../../src/domain/datapoints/datapoint-store.ts';
import type { Calibration } from '../../../src/domain/devices/calibration.ts';
import type { JsonValue } from '../../../src/lib/json.ts';
import { push } from './datapoint-builders.ts';

export const minute = 60_000;
/** Clocks are changed in Europe, and a day later in the time that is looked at. */
export const start = Date.parse('2024-10-26T20:00:00Z');

const tenths = fc.integer({ min: -300, max: 900 }).map((n) => n / 10);
const kinds: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  tenths,
  doubles: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  counter: fc.integer({ min: 0, max: 100_000 }),
  'text numbers': tenths.map((n) => n.toFixed(2)),
  booleans: fc.boolean(),
  anything: fc.oneof(tenths, tenths.map(String), fc.constantFrom('wet', null, true, 1e300, -1e300)),
};

/** None, or one of one line, of a falling one, or of several. */
export const anyCalibration: fc.Arbitrary<Calibration | undefined> = fc.constantFrom(
  undefined,
  calibrationOf([0, 0], [10, 21]),
  calibrationOf([0, 100], [10, 0]),
  calibrationOf([-10, 0], [20, 30], [40, 10], [41, 10]),
);

/** The steepest line of these, and the point that is farthest from zero. */
export const [steepest, farthest] = [10, 100];

function calibrationOf(...points: readonly (readonly [number, number])[]): Calibration {
  const spelled = points.map(([sensorValue, realValue]) => ({ sensorValue, realValue }));
  return { points: spelled, spelling: 'points' };
}

/** Mostly a datapoint a minute; gaps, and others that come late or without a timestamp. */
export const series = fc.constantFrom(...Object.values(kinds)).chain((value) =>
  fc.array(
    fc.record({
      value,
      gap: fc.oneof(
        { weight: 50, arbitrary: fc.constantFrom(minute, minute, 0, 30_000) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 * minute }) },
      ),
      late: fc.oneof(
        { weight: 40, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 400 * minute }) },
      ),
      isTimed: fc.integer({ min: 0, max: 30 }).map((n) => n > 0),
    }),
    { minLength: 300, maxLength: 700 },
  ),
);

type Series = typeof series extends fc.Arbitrary<infer One> ? One : never;

const pushedAtOnce = 60;

/** Pushes a series to the usual sensor; answers what is stored, in order of time. */
export async function storeSeries(
  store: Pick<DatapointStore, 'append'>,
  points: Series,
): Promise<readonly Datapoint[]> {
  let now = start;
  const datapoints = points.map(({ value, gap, late, isTimed }): Datapoint => {
    now += gap;
    return isTimed ? { value, timestamp: now - late, receivedAt: now } : { value, receivedAt: now };
  });
  const stored: Datapoint[] = [];
  for (let at = 0; at < datapoints.length; at += pushedAtOnce) {
    const [outcome] = await store.append([push(datapoints.slice(at, at + pushedAtOnce))]);
    if (outcome?.kind !== 'stored') throw new Error('the usual sensor is missing');
    stored.push(...toDatapoints(outcome.fresh));
  }
  return stored.sort((a, b) => orderTime(a) - orderTime(b));
}
