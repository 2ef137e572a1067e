import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvRow } from '../../test/csv-row.ts';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { JsonValue } from '../lib/json.ts';
import { csvHeader } from './csv.ts';
import { type CsvRow, createCsvRowReader, readCsvPush } from './csv-datapoints.ts';

const sensor = { deviceId: parseDeviceId('field-1'), sensorId: parseSensorId('-2*3') };
const at = (text: string) => Date.parse(text);

function rowsOf(text: string): readonly CsvRow[] {
  const csv = createCsvRowReader({ encoding: 'utf-8' });
  return [...csv.push(Buffer.from(text)), ...csv.end()];
}

const valueIn = (text: string): JsonValue | undefined => {
  const [row] = rowsOf(text);
  return row !== undefined && 'datapoint' in row ? row.datapoint.value : undefined;
};

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('=1+1', '+cmd', '-2+3', "'x", '\t=1', '25', '"a"', 'null', '{"a":1}', ' ', ''),
);
const value = fc.oneof(text, fc.jsonValue({ stringUnit: 'binary' }), fc.double({ noNaN: true }));

test('an exported CSV read back gives the same datapoints', () => {
  const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
  const datapoint = fc.record({ value, receivedAt: instant, timestamp: fc.option(instant) });
  fc.assert(
    fc.property(fc.array(datapoint, { maxLength: 20 }), (given) => {
      const datapoints = given.map(({ value: sent, timestamp, receivedAt }): Datapoint => {
        // As they come from the wire: infinities and -0 are no JSON.
        const kept = JSON.parse(JSON.stringify(sent)) as JsonValue;
        return { value: kept, timestamp: timestamp ?? receivedAt, receivedAt };
      });
      const csv = datapoints.map((one, index) => {
        const { timestamp: _, ...undated } = one;
        const written = given[index]?.timestamp === null ? undated : one;
        return csvRow({ ...sensor, datapoint: written });
      });
      const read = readCsvPush(Buffer.from(csvHeader() + csv.join('')), sensor);
      assert.deepEqual(
        Array.from({ length: read.length }, (_, position) => read.at(position)),
        datapoints.map(({ value: kept, timestamp }) => ({ value: kept, timestamp })),
      );
    }),
    { numRuns: 300 },
  );
});

test('timestamp and value are read with and without a line that names them', () => {
  const row = { line: 1, datapoint: { value: 21.5, timestamp: at('2016-06-08T18:20:00Z') } };
  assert.deepEqual(rowsOf('2016-06-08T18:20:00Z,21.5'), [row]);
  const second = { ...row, line: 2 };
  assert.deepEqual(rowsOf('timestamp,value\n2016-06-08T18:20:00Z,21.5\n'), [second]);
  assert.deepEqual(rowsOf(' Value ; note ; Timestamp\n21.5;x;2016-06-08 18:20\n'), [second]);
  assert.deepEqual(rowsOf('value\n21.5'), [{ line: 2, datapoint: { value: 21.5 } }]);
});

test('a value is what it looks like, unless quotes make a text of it', () => {
  const first = '2016-06-08';
  assert.equal(valueIn(`${first},25`), 25);
  assert.equal(valueIn(`${first},"25"`), '25');
  assert.equal(valueIn(`${first},dry`), 'dry');
  assert.equal(valueIn(`${first},true`), true);
  assert.equal(valueIn(`${first},'=1+1`), '=1+1');
  assert.equal(valueIn(`${first},""`), '');
  assert.deepEqual(valueIn(`${first},"{""a"":[1]}"`), { a: [1] });
  assert.equal(valueIn(`${first};21,5`), 21.5);
  assert.equal(valueIn(`${first};"21,5"`), '21,5');
});

test('a row that cannot be read is refused alone, by its line', () => {
  const csv = 'timestamp,value\n2016-06-08,1\nyesterday,2\n2016-06-09,\n2016-06-09\n2016-06-09,3';
  const refused = rowsOf(csv).flatMap((row) => ('refusal' in row ? [row.line] : []));
  assert.deepEqual(refused, [3, 4, 5]);
  assert.throws(() => readCsvPush(Buffer.from(csv), sensor), /line 3: timestamp must be/);
  assert.throws(() => rowsOf('1,2,3\n'), /name the columns/);
  assert.throws(() => rowsOf('2016-06-08,"open'), /never closed/);
  const twoTimes = Buffer.from('timestamp,time\n2016-06-08,2016-06-09\n');
  assert.throws(() => readCsvPush(twoTimes, sensor), /line 1: timestamp must be/);
});

test('a push of one sensor takes rows of that sensor alone', () => {
  const row = (deviceId: string) => `${csvHeader()}${deviceId},'-2*3,1,,2016-06-08T00:00:00Z\r\n`;
  assert.equal(readCsvPush(Buffer.from(row('field-1')), sensor).length, 1);
  assert.throws(() => readCsvPush(Buffer.from(row('field-2')), sensor), /line 2 is of sensor/);
});
