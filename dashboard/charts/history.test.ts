import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiClient } from '../api/client.ts';
import { readHistory } from './history.ts';

type Query = Readonly<Record<string, unknown>>;

/** What is asked of the service for this range, read by read. */
async function queriesOf(endsNow: boolean): Promise<readonly Query[]> {
  const asked: Query[] = [];
  const at = '2026-03-20T12:00:00.500Z';
  const names = { device_id: 'd', sensor_id: 's' };
  const answers: readonly unknown[] = [
    [{ ...names, timestamp: at, avg: 45, min: 45, max: 45, count: 1, last: 45 }],
    [{ ...names, timestamp: at, value: 45, date_received: at }],
  ];
  const api = {
    getJson: async (request: { readonly query?: Query }) => {
      asked.push(request.query ?? {});
      return answers[asked.length - 1];
    },
  } as unknown as Pick<ApiClient, 'getJson'>;
  const to = Date.parse('2026-03-20T12:00:00.000Z');
  const { columns } = await readHistory(api, {
    sensors: [{ deviceId: 'd', sensorId: 's' }],
    range: { from: to - 86_400_000, to },
    endsNow,
    widthPx: 600,
    signal: new AbortController().signal,
  });
  assert.deepEqual(columns[0]?.times, [Date.parse(at)]);
  return asked;
}

test('a range that ends now has no end for the service, whose clock may be ahead', async () => {
  const asked = await queriesOf(true);
  assert.deepEqual(
    asked.map((query) => [query['dateFrom'], 'dateTo' in query]),
    [
      ['2026-03-19T12:00:00.000Z', false],
      ['2026-03-19T12:00:00.000Z', false],
    ],
  );
});

test('a range that was chosen ends where it was chosen to', async () => {
  const asked = await queriesOf(false);
  assert.deepEqual(
    asked.map((query) => query['dateTo']),
    ['2026-03-20T12:00:00.000Z', '2026-03-20T12:00:00.000Z'],
  );
});
