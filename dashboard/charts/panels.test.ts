import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeOf } from '../api/sensor-shape.ts';
import { barAt, barInterval, columnsOfBars, totalOf } from './bars.ts';
import { type ChartView, chartViewPath, readChartView } from './chart-view.ts';
import { panelsOf } from './panels.ts';
import { fromZoneText, startOfDay, toZoneText, usableZone, zoneIn } from './zone.ts';

const hourMs = 3_600_000;
const start = Date.parse('2026-03-20T00:00:00Z');
const iso = (at: number): string => new Date(at).toISOString();

test('there is a plot for each unit, bars have their own, texts have none', () => {
  const panels = panelsOf([
    { unit: '°C' },
    { unit: '%' },
    { unit: '°C' },
    { unit: 'mm', shape: 'sum' },
    { unit: 'mm' },
    { shape: 'text' },
  ]);
  assert.deepEqual(
    panels.map(({ unit, isBars, members }) => [unit, isBars, members]),
    [
      ['°C', false, [0, 2]],
      ['%', false, [1]],
      ['mm', true, [3]],
      ['mm', false, [4]],
    ],
  );
  assert.deepEqual(
    panelsOf([{ shape: 'text' }]).map(({ members }) => members),
    [[]],
  );
});

test('rain and energy are amounts, words are texts, the rest are lines', () => {
  const value = (given: unknown) => ({ last_value: { value: given } });
  assert.equal(shapeOf({ id: 'r', quantity_kind: 'Rainfall', ...value(0.2) }), 'sum');
  assert.equal(shapeOf({ id: 'e', sensor_kind: 'EnergyMeter' }), 'sum');
  assert.equal(shapeOf({ id: 't', quantity_kind: 'AirTemperature', ...value('21.5') }), 'line');
  assert.equal(shapeOf({ id: 'd', ...value('open') }), 'text');
  assert.equal(shapeOf({ id: 'n' }), 'line');
});

/** A bucket of these values in this order. */
const bucket = (hour: number, values: readonly number[]) => ({
  timestamp: iso(start + hour * hourMs),
  ...{ min: Math.min(...values), max: Math.max(...values), count: values.length },
  sum: values.reduce((sum, value) => sum + value, 0),
  ...{ first: values[0], last: values.at(-1) },
});

test('a bar is the sum of what was sent, and the rise of a meter that counts up', () => {
  const rain = [bucket(0, [0, 0.4, 0]), bucket(1, [0.2, 0.2, 0.2]), bucket(2, [0, 0, 0])];
  assert.deepEqual(
    columnsOfBars(rain, hourMs).values.map((sum) => Math.round(sum * 10) / 10),
    [0.4, 0.6, 0],
  );
  const meter = [
    bucket(0, [100, 101, 103]),
    bucket(1, [103, 104, 106]),
    bucket(2, [106, 106, 109]),
  ];
  assert.deepEqual(columnsOfBars(meter, hourMs).values, [3, 3, 3]);
  assert.deepEqual(columnsOfBars(meter.slice(0, 1), hourMs).values, [3], 'known from one day');
  assert.deepEqual(columnsOfBars([bucket(0, [0, 0.4, 0, 0.5])], hourMs).values, [0.9]);
  const hourly = [10, 12, 15, 15, 16, 19].map((value, hour) => bucket(hour, [value]));
  assert.deepEqual(columnsOfBars(hourly, hourMs).values, [0, 2, 3, 0, 1, 3]);
  const exchanged = [bucket(0, [900, 905, 910]), bucket(1, [2, 4, 6]), bucket(2, [6, 8, 9])];
  assert.deepEqual(columnsOfBars(exchanged, hourMs).values, [10, 4, 3]);
  const each = [bucket(0, [0.3, 0.31, 0.29]), bucket(1, [0.28, 0.33, 0.3])];
  assert.ok((totalOf(columnsOfBars(each, hourMs)) ?? 0) > 1.7, 'amounts that differ little');
});

test('the cursor is in a bar from its start to the next one', () => {
  const columns = columnsOfBars([bucket(0, [1]), bucket(1, [2]), bucket(5, [3])], hourMs);
  assert.equal(barAt(columns, start + hourMs - 1)?.value, 1);
  assert.equal(barAt(columns, start + hourMs)?.value, 2);
  assert.equal(barAt(columns, start + 4 * hourMs), undefined);
  assert.equal(barAt(columns, start - 1), undefined);
  assert.deepEqual(
    [24, 7 * 24, 365 * 24].map((hours) => barInterval(hours * hourMs).text),
    ['1h', '1d', '1mo'],
  );
});

test('the address names the range, and only when it is not the usual one', () => {
  const range = { from: start, to: start + hourMs };
  const path = (view: ChartView) =>
    chartViewPath('/devices/x', { a: 'b', range: 'year' }, { view, first: 'day' });
  assert.equal(path({ preset: 'day' }), '/devices/x?a=b');
  assert.equal(path({ preset: 'week' }), '/devices/x?a=b&range=week');
  const own = path({ range });
  assert.equal(own, '/devices/x?a=b&from=2026-03-20T00:00:00Z&to=2026-03-20T01:00:00Z');
  const query = Object.fromEntries(new URL(own, 'http://x').searchParams);
  assert.deepEqual(readChartView(query, 'day'), { range });
  assert.deepEqual(readChartView({ range: 'month' }, 'day'), { preset: 'month' });
  for (const bad of [{ range: 'constructor' }, { from: 'x', to: 'y' }, { from: own, to: '' }]) {
    assert.deepEqual(readChartView(bad, 'week'), { preset: 'week' });
  }
});

test('clock times are those of the zone, also in nights in which clocks are changed', () => {
  const zone = 'Europe/Berlin';
  for (const at of ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-10-25T03:00:00Z']) {
    assert.equal(fromZoneText(toZoneText(Date.parse(at), zone), zone), Date.parse(at), at);
  }
  assert.equal(toZoneText(Date.parse('2026-07-01T10:00:00Z'), zone), '2026-07-01T12:00');
  // 02:30 is skipped in March, and comes twice in October.
  assert.equal(fromZoneText('2026-03-29T02:30', zone), Date.parse('2026-03-29T01:30:00Z'));
  assert.equal(fromZoneText('2026-10-25T02:30', zone), Date.parse('2026-10-25T00:30:00Z'));
  assert.equal(fromZoneText('', zone), undefined);
  const noon = Date.parse('2026-03-29T12:00:00Z');
  assert.equal(startOfDay(noon, zone), Date.parse('2026-03-28T23:00:00Z'));
  assert.equal(startOfDay(noon, 'Asia/Kathmandu'), Date.parse('2026-03-28T18:15:00Z'));
});

test('a zone is told with the offsets of the dates shown, and an unknown one is the own', () => {
  const summer = Date.parse('2026-07-01T00:00:00Z');
  const winter = Date.parse('2026-12-01T00:00:00Z');
  const zone = 'Europe/Berlin';
  assert.equal(zoneIn(zone, { from: summer, to: summer + hourMs }), 'Europe/Berlin (UTC+2)');
  assert.equal(zoneIn(zone, { from: summer, to: winter }), 'Europe/Berlin (UTC+2, UTC+1)');
  assert.equal(usableZone('Europe/Berlin'), 'Europe/Berlin');
  assert.equal(usableZone('No/Where'), usableZone(undefined));
});
