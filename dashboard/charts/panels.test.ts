import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assumed, isUnsaid } from '../api/measures.ts';
import { shapeOf } from '../api/sensor-shape.ts';
import { barAt, barInterval, columnsOfBars } from './bars.ts';
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

test('what was said of a sensor decides how it is drawn, whatever its kind', () => {
  assert.equal(shapeOf({ id: 'm', measures: 'counter' }), 'sum');
  assert.equal(shapeOf({ id: 'a', measures: 'amount', quantity_kind: 'AirTemperature' }), 'sum');
  assert.equal(shapeOf({ id: 'g', measures: 'gauge', quantity_kind: 'Rainfall' }), 'line');
});

/** A bucket as the API answers it. */
const bucket = (hour: number, sum: number, increase = 0) => ({
  ...{ timestamp: iso(start + hour * hourMs), sum, increase, count: 1 },
});

test('a bar is the total that the API computed for what the sensor measures', () => {
  const buckets = [bucket(0, 40_837.05, 7.25), bucket(1, 3, 0)];
  assert.deepEqual(columnsOfBars(buckets, hourMs, 'counter').values, [7.25, 0]);
  assert.deepEqual(columnsOfBars(buckets, hourMs, 'amount').values, [40_837.05, 3]);
  assert.deepEqual(columnsOfBars(buckets, hourMs, 'gauge').values, []);
  assert.deepEqual(columnsOfBars(buckets, hourMs, undefined).values, []);
});

test('a sensor of which nobody said it is looked at as a whole', () => {
  const energy = { id: 'e', quantity_kind: 'Energy' };
  const rain = { id: 'r', quantity_kind: 'Rainfall' };
  const whole = (first: number, last: number, max: number, increase: number, count = 50) => ({
    ...{ first, last, min: 0, max, increase, count },
  });
  assert.equal(assumed(energy, whole(20_411.3, 20_418.55, 20_418.55, 7.25, 3)), 'counter');
  assert.equal(assumed(energy, whole(100, 100, 100, 0, 3)), 'counter');
  assert.equal(assumed(energy, whole(900, 30, 950, 80)), 'counter');
  assert.equal(assumed(energy, whole(0.3, 0.2, 0.6, 9)), 'amount');
  assert.equal(assumed(rain, whole(0.2, 0.8, 0.8, 0.6, 3)), 'amount');
  assert.equal(assumed(rain, whole(0.2, 80.2, 80.2, 80)), 'counter');
  assert.equal(assumed(rain, undefined), 'amount');
  assert.equal(isUnsaid({ ...rain, measures: 'gauge' }), false);
  assert.equal(isUnsaid({ id: 't', quantity_kind: 'AirTemperature' }), false);
});

test('the cursor is in a bar from its start to the next one', () => {
  const columns = columnsOfBars([bucket(0, 1), bucket(1, 2), bucket(5, 3)], hourMs, 'amount');
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
