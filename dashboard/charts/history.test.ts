import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiClient } from '../api/client.ts';
import { columnsOfBuckets } from './columns.ts';
import { hasFew, isCloser, readHistory } from './history.ts';
import type { HistoryWish } from './history-query.ts';

type Query = Readonly<Record<string, unknown>>;

const to = Date.parse('2026-03-20T12:00:00.000Z');
const dayMs = 86_400_000;
const sensor = { deviceId: 'd', sensorId: 's' };
const day: HistoryWish = { sensors: [sensor], range: { from: to - dayMs, to }, widthPx: 600 };

/** What is asked of the service, read by read; each is answered by what it asks for. */
async function queriesOf(wish: Partial<HistoryWish> & { readonly isRaw?: boolean }, raw = 1) {
  const asked: Query[] = [];
  const names = { device_id: 'd', sensor_id: 's' };
  const at = '2026-03-20T11:55:00.000Z';
  const api = {
    getJson: async ({ query = {} }: { readonly query?: Query }) => {
      asked.push(query);
      return 'aggregate' in query
        ? [{ ...names, timestamp: at, avg: 45, min: 40, max: 50, count: 9, last: 45 }]
        : Array.from({ length: raw }, () => ({ ...names, timestamp: at, value: 45 }));
    },
  } as unknown as Pick<ApiClient, 'getJson'>;
  const { signal } = new AbortController();
  const history = await readHistory(api, { ...day, ...wish, signal });
  return { asked, history };
}

test('a chart asks once, for averages', async () => {
  const { asked, history } = await queriesOf({});
  assert.equal(asked.length, 1);
  assert.equal(asked[0]?.['aggregate'], 'avg,min,max,count,last');
  assert.deepEqual([history.isThinned, history.columns[0]?.lows], [true, [40]]);
});

test('where few are known to be, it asks once, for every datapoint', async () => {
  const { asked, history } = await queriesOf({ isRaw: true });
  assert.deepEqual(
    asked.map((query) => 'aggregate' in query),
    [false],
  );
  assert.equal(history.isThinned, false);
  const many = await queriesOf({ isRaw: true }, 6_000);
  assert.deepEqual(
    many.asked.map((query) => 'aggregate' in query),
    [false, true],
  );
  assert.equal(many.history.isThinned, true, 'what was cut off is not drawn as a gap');
});

test('a range that ends now has no end for the service, whose clock may be ahead', async () => {
  const { asked } = await queriesOf({ endsNow: true });
  assert.equal('dateTo' in (asked[0] ?? {}), false);
  const chosen = await queriesOf({});
  assert.equal(chosen.asked[0]?.['dateTo'], '2026-03-20T12:00:00.000Z');
});

test('a chart opened a moment later asks the same, from where a bucket begins', async () => {
  const later = { from: day.range.from + 61_000, to: to + 61_000 };
  const queries = await Promise.all(
    [day.range, later].map((range) => queriesOf({ range, endsNow: true })),
  );
  const [one, other] = queries.map(({ asked }) => asked[0]);
  assert.deepEqual(one, other);
});

test('all sensors of a device are asked for by its name', async () => {
  const { asked } = await queriesOf({ devices: ['d'] });
  assert.deepEqual([asked[0]?.['device_id'], 'sensor_id' in (asked[0] ?? {})], ['d', false]);
});

test('days are cut in the zone of the chart; minutes need none', async () => {
  const range = { from: to - 365 * dayMs, to };
  const year = await queriesOf({ range, zone: 'Africa/Accra' });
  assert.equal(year.asked[0]?.['timezone'], 'Africa/Accra');
  const { asked } = await queriesOf({ zone: 'Africa/Accra' });
  assert.equal('timezone' in (asked[0] ?? {}), false);
});

test('the averages at hand tell whether a closer look has few enough datapoints', () => {
  const minuteMs = 60_000;
  const buckets = Array.from({ length: 144 }, (_, index) => ({
    timestamp: new Date(to - dayMs + index * 10 * minuteMs).toISOString(),
    ...{ avg: 1, min: 0, max: 2, count: 100 },
  }));
  const columns = [columnsOfBuckets(buckets, 10 * minuteMs)];
  const interval = { text: '10m', ms: 10 * minuteMs };
  const history = { columns, interval, isThinned: true };
  assert.equal(hasFew(history, day.range, 600), false);
  assert.equal(hasFew(history, { from: to - 40 * minuteMs, to }, 600), true);
  assert.equal(hasFew(undefined, day.range, 600), false);
  assert.equal(isCloser({ from: to - 40 * minuteMs, to }, day.range), true);
  assert.equal(isCloser({ from: to - 2 * dayMs, to }, day.range), false);
});
