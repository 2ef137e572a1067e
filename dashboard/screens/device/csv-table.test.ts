import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDeviceId, parseSensorId } from '../../../src/domain/ids.ts';
import type { JsonValue } from '../../../src/lib/json.ts';
import { csvHeader } from '../../../src/wire/csv.ts';
import { csvRow } from '../../../test/csv-row.ts';
import { readCsvRows } from './csv-rows.ts';
import { createCsvTable, type TableForm } from './csv-table.ts';

const deviceId = parseDeviceId('-a,b');
const sensorIds = ['value', '@TC', 'x,y', '1.5'].map((id) => parseSensorId(id));
const sensors = sensorIds.map((id) => `${deviceId}/${id}`);

/** Around the hour that comes twice in Berlin, where few values share few times. */
const first = Date.parse('2026-10-25T00:00:00Z');
const datapoint = fc.record({
  sensorId: fc.constantFrom(...sensorIds),
  receivedAt: fc.integer({ min: 0, max: 16 }).map((quarters) => first + quarters * 900_000),
  ms: fc.constantFrom(0, 0, 7),
  isTimed: fc.boolean(),
  value: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(
      '=1+1',
      'a;b',
      '=1;2',
      '1.5;',
      "'x",
      '1.10',
      'nan',
      'a,b',
      ' ',
      '',
      '21,5',
      '"',
      'two\nlines',
      '[1]',
    ),
    fc.jsonValue({ maxDepth: 2 }),
  ),
});

test('a download of any form comes back as it was, whatever zone is chosen', () => {
  const forms: fc.Arbitrary<TableForm> = fc
    .record({
      isWide: fc.boolean(),
      isSemicolon: fc.boolean(),
      zone: fc.constantFrom(undefined, 'Europe/Berlin', 'Africa/Nairobi', 'UTC'),
    })
    .map(({ zone, ...others }) => ({ ...others, sensors, ...(zone !== undefined && { zone }) }));
  fc.assert(
    fc.property(fc.array(datapoint, { maxLength: 12 }), forms, fc.nat(40), (given, form, cut) => {
      const datapoints = given
        .map(({ receivedAt, ms, ...others }) => ({ ...others, receivedAt: receivedAt + ms }))
        .toSorted((a, b) => a.receivedAt - b.receivedAt)
        .map(({ value, ...others }) => ({
          ...others,
          value: JSON.parse(JSON.stringify(value)) as JsonValue,
        }));
      const answer = datapoints.map(({ sensorId, isTimed, receivedAt, value }) => {
        const times = { receivedAt, ...(isTimed && { timestamp: receivedAt }) };
        return csvRow({ deviceId, sensorId, datapoint: { value, ...times } });
      });
      const text = csvHeader() + answer.join('');
      const table = createCsvTable(form);
      const begin = table.push(text.slice(0, cut));
      const file = `\u{feff}${begin}${table.push(text.slice(cut))}${table.end()}`;
      const chosen = { device: 'another', sensor: 'none', zone: 'America/Bogota' };
      const read = readCsvRows(Buffer.from(file), chosen).map((row) =>
        'json' in row ? (JSON.parse(row.json) as unknown) : row,
      );
      const wanted = datapoints.map(({ sensorId, receivedAt, value }) => ({
        ...{ device_id: deviceId, sensor_id: sensorId, value },
        timestamp: new Date(receivedAt).toISOString(),
      }));
      const order = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).toSorted();
      assert.deepEqual(order(read), order(wanted), file);
    }),
    { numRuns: 1_000 },
  );
});

test('a table of one column for each sensor has one row for each time', () => {
  const row = (sensor: string, value: string, time: string) =>
    `d,${sensor},${value},${time},${time}\r\n`;
  const [nine, ten] = ['2026-03-20T09:00:00.000Z', '2026-03-20T10:00:00.500Z'];
  const table = createCsvTable({ isWide: true, zone: 'Africa/Nairobi', sensors: ['d/A', 'd/B'] });
  const text = csvHeader() + row('A', '1', nine) + row('B', '"2,5"', nine) + row('A', '3', ten);
  assert.deepEqual((table.push(text) + table.end()).split('\r\n'), [
    'timestamp (Africa/Nairobi),d/A,d/B',
    '2026-03-20 12:00:00,1,"2,5"',
    '2026-03-20 13:00:00.500,3,',
    '',
  ]);
});
