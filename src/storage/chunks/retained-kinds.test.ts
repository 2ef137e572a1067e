import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toDatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import { addToHours, type HourTally } from '../../domain/datapoints/retention/hours.ts';
import { hourMs } from '../../domain/datapoints/retention/retention.ts';
import type { JsonValue } from '../../lib/json.ts';
import { readHours, withHours } from './retention-step.ts';

const begin = Date.UTC(2026, 0, 1, 2);

/** Hours that follow each other, each with the values of one list. */
function hoursOf(lists: readonly (readonly JsonValue[])[]): readonly HourTally[] {
  const made = new Map<number, HourTally>();
  const datapoints = lists.flatMap((values, hour) =>
    values.map((value, at) => {
      const timestamp = begin + hour * hourMs + at;
      return { value, timestamp, receivedAt: timestamp };
    }),
  );
  addToHours(toDatapointColumns(datapoints), { there: new Map(), open: undefined, made });
  return [...made.values()];
}

function written(hours: readonly HourTally[]): Buffer {
  const [day] = withHours([], hours).days;
  assert.ok(day !== undefined);
  return Buffer.from(day.summary);
}

/** As the version before had it: 5, "40" and "wet"; and 5, 7.5, "wet" and 6. */
const mixedBefore =
  'AmVsOU4BAQAGAAACAAACAAAAAICUxPTuZgAAAACAlMT07mYAAAAApPY7AAAGAAACAAACAAEAAAAKAAAAAFAAAAAAWgAA' +
  'AAAKAAAAAFAAAAAARgAAAAAAAAAAAAA=';
const ordinaryBefore =
  'AmnyDmwBAQAIAAACAAACAAAAAICUxPTuZgAAAACAlMT07mYAAAAApPY7AAAIAAAGAAAAAAEAAAAKAAEAAJYBAAEAAPIC' +
  'AAAAAAoAAAAADAABAAAyAAEAAB4AAAAAAA==';

test('hours that the version before stored are read, without their edges', () => {
  const [hour] = hoursOf([[5, 7.5, 'wet', 6]]);
  assert.ok(hour?.edges !== undefined);
  const { edges: _, ...old } = hour;
  assert.deepEqual(readHours(Buffer.from(ordinaryBefore, 'base64')), [old]);
  assert.equal(written(hoursOf([[1, 2], ['3', 'wet'], ['wet']]))[0], 2);
});

test('an hour of both kinds that the version before stored is read, without its kinds', () => {
  const [hour] = hoursOf([[5, '40', 'wet']]);
  assert.ok(hour?.kinds !== undefined);
  const { kinds: _, ...old } = hour;
  assert.deepEqual(readHours(Buffer.from(mixedBefore, 'base64')), [old]);
});

test('hours of both kinds come back as they were, also after others joined their day', () => {
  const value = fc.oneof(
    fc.integer({ min: -500, max: 500 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom('3', '-7.25', 'wet', '1e300', '-1e308'),
  );
  const lists = fc.array(fc.array(value, { minLength: 1, maxLength: 200 }), {
    ...{ minLength: 1, maxLength: 20 },
  });
  fc.assert(
    fc.property(lists, (some) => {
      const hours = hoursOf(some);
      assert.deepEqual(readHours(written(hours)), hours);
      const [first] = hours.slice(-1);
      assert.ok(first !== undefined);
      const day = { day: begin - 2 * hourMs, summary: written([first]) };
      const [joined] = withHours([day], hours.slice(0, -1)).days;
      if (joined !== undefined) assert.deepEqual(readHours(joined.summary), hours);
    }),
    { numRuns: 200 },
  );
});
