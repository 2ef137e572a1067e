import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalClock, zonesOfInterest } from '../../test/local-clock.ts';
import { type BucketOf, createBuckets, type Interval, parseInterval } from './time-bucket.ts';
import { findTimeZone, type TimeZone } from './time-zone.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

function zoneOf(name: string): TimeZone {
  const zone = findTimeZone(name);
  assert.ok(zone !== undefined, name);
  return zone;
}

function bucketsOf(text: string, zone: string): BucketOf {
  const interval = parseInterval(text);
  assert.ok(interval !== undefined, text);
  return createBuckets(interval, zoneOf(zone));
}

/** Start and end of the bucket that holds an instant, as texts in UTC. */
function bucketAt(instant: string, interval: string, zone: string): readonly string[] {
  const { start, end } = bucketsOf(interval, zone)(Date.parse(instant));
  return [start, end].map((edge) => new Date(edge).toISOString().replace(':00.000Z', ''));
}

test('an interval is a whole number and a unit, and nothing else', () => {
  const clock = (lengthMs: number): Interval => ({ kind: 'clock', lengthMs });
  const calendar = (unit: 'd' | 'w' | 'mo' | 'y', count: number): Interval => ({
    kind: 'calendar',
    unit,
    count,
  });
  const read: Readonly<Record<string, Interval>> = {
    '30s': clock(30_000),
    '15m': clock(15 * minute),
    '24h': clock(day),
    '1d': calendar('d', 1),
    '2w': calendar('w', 2),
    '1mo': calendar('mo', 1),
    '10y': calendar('y', 10),
  };
  for (const [text, interval] of Object.entries(read)) {
    assert.deepEqual(parseInterval(text), interval);
  }
  const others = [
    '',
    'h',
    '0h',
    '-1h',
    '1.5h',
    '1 h',
    '1H',
    '1M',
    '1month',
    '01h',
    '1h30m',
    'PT1H',
  ];
  for (const text of others) assert.equal(parseInterval(text), undefined, text);
});

test('an interval of a hundred years is the longest', () => {
  for (const text of ['100y', '1200mo', '5218w', '36525d', '876600h']) {
    assert.notEqual(parseInterval(text), undefined, text);
  }
  const longer = ['101y', '1201mo', '5219w', '36526d', '876601h', '9999999999s', '99999999999s'];
  for (const text of longer) assert.equal(parseInterval(text), undefined, text);
});

test('a day is 23 or 25 hours long where clocks are changed', () => {
  const paris = (instant: string) => bucketAt(instant, '1d', 'Europe/Paris');
  assert.deepEqual(paris('2024-03-31T12:00Z'), ['2024-03-30T23:00', '2024-03-31T22:00']);
  assert.deepEqual(paris('2024-10-27T12:00Z'), ['2024-10-26T22:00', '2024-10-27T23:00']);
});

test('a day begins at one where the clocks jump over midnight', () => {
  assert.deepEqual(bucketAt('2018-11-04T12:00Z', '1d', 'America/Sao_Paulo'), [
    '2018-11-04T03:00',
    '2018-11-05T02:00',
  ]);
  assert.deepEqual(bucketAt('2023-04-28T12:00Z', '1d', 'Africa/Cairo'), [
    '2023-04-27T22:00',
    '2023-04-28T21:00',
  ]);
});

test('a day begins once where the clocks show midnight twice', () => {
  // St. John's put its clocks back at 00:01, to 23:01 of the day before.
  const bucket = ['2010-11-07T02:30', '2010-11-08T03:30'];
  assert.deepEqual(bucketAt('2010-11-07T02:30Z', '1d', 'America/St_Johns'), bucket);
  assert.deepEqual(bucketAt('2010-11-07T03:00Z', '1d', 'America/St_Johns'), bucket);
  assert.deepEqual(bucketAt('2010-11-07T04:00Z', '1d', 'America/St_Johns'), bucket);
});

test('the day that Samoa left out has no bucket', () => {
  const apia = (instant: string) => bucketAt(instant, '1d', 'Pacific/Apia');
  assert.deepEqual(apia('2011-12-30T09:59Z'), ['2011-12-29T10:00', '2011-12-30T10:00']);
  assert.deepEqual(apia('2011-12-30T10:00Z'), ['2011-12-30T10:00', '2011-12-31T10:00']);
});

test('weeks begin on Monday, months on the first, years on New Year, by the local calendar', () => {
  const dakar = (interval: string) => bucketAt('2016-06-08T18:20Z', interval, 'Africa/Dakar');
  assert.deepEqual(dakar('1w'), ['2016-06-06T00:00', '2016-06-13T00:00']);
  assert.deepEqual(dakar('1mo'), ['2016-06-01T00:00', '2016-07-01T00:00']);
  assert.deepEqual(dakar('3mo'), ['2016-04-01T00:00', '2016-07-01T00:00']);
  assert.deepEqual(dakar('1y'), ['2016-01-01T00:00', '2017-01-01T00:00']);
  assert.deepEqual(dakar('10y'), ['2010-01-01T00:00', '2020-01-01T00:00']);
  assert.deepEqual(bucketAt('2015-12-31T18:20Z', '1y', 'Asia/Kathmandu'), [
    '2015-12-31T18:15',
    '2016-12-31T18:15',
  ]);
});

test('clock intervals that divide a day follow the local clock', () => {
  assert.deepEqual(bucketAt('2016-06-08T18:20Z', '1h', 'Asia/Kathmandu'), [
    '2016-06-08T18:15',
    '2016-06-08T19:15',
  ]);
  assert.deepEqual(bucketAt('2016-06-08T18:20Z', '6h', 'Europe/Paris'), [
    '2016-06-08T16:00',
    '2016-06-08T22:00',
  ]);
});

test('the hour that the clocks show twice is two buckets, and six hours become seven', () => {
  const paris = (instant: string, interval: string) => bucketAt(instant, interval, 'Europe/Paris');
  assert.deepEqual(paris('2024-10-27T00:30Z', '1h'), ['2024-10-27T00:00', '2024-10-27T01:00']);
  assert.deepEqual(paris('2024-10-27T01:30Z', '1h'), ['2024-10-27T01:00', '2024-10-27T02:00']);
  assert.deepEqual(paris('2024-10-27T01:30Z', '6h'), ['2024-10-26T22:00', '2024-10-27T05:00']);
  assert.deepEqual(paris('2024-03-31T02:30Z', '6h'), ['2024-03-30T23:00', '2024-03-31T04:00']);
});

test('other clock intervals count from 1970 in UTC, whatever the zone', () => {
  for (const zone of ['UTC', 'Asia/Kathmandu']) {
    assert.deepEqual(bucketAt('1970-01-01T12:00Z', '7h', zone), [
      '1970-01-01T07:00',
      '1970-01-01T14:00',
    ]);
    assert.deepEqual(bucketAt('1969-12-31T23:00Z', '24h', zone), [
      '1969-12-31T00:00',
      '1970-01-01T00:00',
    ]);
  }
});

const anyZone = fc.constantFrom(...Object.keys(zonesOfInterest));

/** Minutes of the days around changes of the clocks. */
const zoneAndMinute = anyZone.chain((zone) =>
  fc.record({
    zone: fc.constant(zone),
    instant: fc
      .tuple(
        fc.constantFrom(...(zonesOfInterest[zone] ?? [])),
        fc.integer({ min: -3_000, max: 3_000 }),
      )
      .map(([change, minutes]) => Date.parse(change) + minutes * minute),
  }),
);

test('calendar buckets are those of a calendar that is turned minute by minute', () => {
  const keys = {
    d: (local: Date) => Math.floor(local.getTime() / day),
    w: (local: Date) => Math.floor((local.getTime() / day + 3) / 7),
    mo: (local: Date) => local.getUTCFullYear() * 12 + local.getUTCMonth(),
  };
  const stepOf = { d: 1, w: 15, mo: 15 } as const;
  fc.assert(
    fc.property(zoneAndMinute, fc.constantFrom('d', 'w', 'mo'), ({ zone, instant }, unit) => {
      const localTime = createLocalClock(zone);
      const step = stepOf[unit] * minute;
      const at = Math.floor(instant / step) * step;
      const bucket = bucketsOf(`1${unit}`, zone)(at);
      assert.ok(bucket.start <= at && at < bucket.end);
      // Begun early enough that the calendar has been turned at least once on the way.
      let page = Number.NEGATIVE_INFINITY;
      let turned = 0;
      const reach = { d: 3, w: 9, mo: 33 }[unit] * day;
      for (let time = at - reach; time <= at; time += step) {
        const shown = keys[unit](new Date(localTime(time)));
        if (shown > page) [page, turned] = [shown, time];
      }
      assert.equal(new Date(bucket.start).toISOString(), new Date(turned).toISOString());
      const next = bucketsOf(`1${unit}`, zone)(bucket.end);
      assert.equal(next.start, bucket.end);
    }),
    { numRuns: 60 },
  );
});

test('clock buckets are those of a clock that is watched minute by minute', () => {
  const intervals = fc.constantFrom('5m', '15m', '30m', '1h', '2h', '3h', '6h', '8h', '12h');
  fc.assert(
    fc.property(zoneAndMinute, intervals, ({ zone, instant }, text) => {
      const localTime = createLocalClock(zone);
      const interval = parseInterval(text);
      assert.ok(interval?.kind === 'clock');
      const { lengthMs } = interval;
      const bucketOf = createBuckets(interval, zoneOf(zone));
      const begins = (time: number): boolean => {
        const shown = localTime(time);
        const expected = localTime(time - minute) + minute;
        return shown % lengthMs === 0 || Math.ceil(expected / lengthMs) * lengthMs < shown;
      };
      let start = instant;
      while (!begins(start)) start -= minute;
      let end = instant + minute;
      while (!begins(end)) end += minute;
      assert.deepEqual(bucketOf(instant), { start, end });
    }),
    { numRuns: 200 },
  );
});
