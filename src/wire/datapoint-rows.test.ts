import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvRow } from '../../test/csv-row.ts';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import { allRows, toDatapointColumns } from '../domain/datapoints/datapoint-columns.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { JsonValue } from '../lib/json.ts';
import { LongJson, type LongText } from '../lib/long-json.ts';
import { csvRowWithoutIds } from './csv.ts';
import { createDatapointWriter } from './datapoint.ts';
import { createCsvRows, createJsonRows } from './rows.ts';
import { v2Spelling } from './spelling.ts';

/** As version 1 writes. */
const v1Spelling = { ...v2Spelling, deviceId: 'deviceID', hasIdsInCsv: false };
const sensor = { deviceId: parseDeviceId('-field,7'), sensorId: parseSensorId('@TC1') };
const number = fc.oneof(
  fc.integer({ min: -99_999, max: 99_999 }).map((hundredths) => hundredths / 100),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const jsonValue = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const asLong = (value: JsonValue) => new LongJson(JSON.stringify(value));
const instant = fc.integer({ min: 1_700_000_000_000, max: 1_700_300_000_000 });
const datapoint: fc.Arbitrary<Datapoint> = fc
  .record({
    value: fc.oneof(number, number, jsonValue, jsonValue.map(asLong)),
    timestamp: fc.option(instant, { nil: undefined }),
    receivedAt: instant,
  })
  .map(({ value, timestamp, receivedAt }) =>
    timestamp === undefined ? { value, receivedAt } : { value, timestamp, receivedAt },
  );

function asText(rows: ReturnType<ReturnType<typeof createCsvRows>>): string {
  const parts = rows instanceof Uint8Array ? [rows] : [...rows];
  return Buffer.concat(parts.map((part) => Buffer.from(part))).toString();
}

const textOf = (row: string | LongText): string =>
  typeof row === 'string' ? row : [...row].join('');

test('columns are written as their datapoints are, byte for byte', () => {
  const writers = [
    [createCsvRows(), (one: Datapoint) => csvRow({ ...sensor, datapoint: one }), ''],
    [createCsvRows(v1Spelling), csvRowWithoutIds, ''],
    [createJsonRows(), createDatapointWriter(sensor, v2Spelling), ','],
    [createJsonRows(v1Spelling), createDatapointWriter(sensor, v1Spelling), ','],
  ] as const;
  fc.assert(
    fc.property(fc.array(datapoint, { maxLength: 20 }), fc.boolean(), (datapoints, hasAll) => {
      const columns = {
        ...toDatapointColumns(datapoints),
        ...(hasAll && {
          received: Float64Array.from(datapoints, ({ receivedAt }) => receivedAt),
          timed: Uint8Array.from(datapoints, ({ timestamp }) => (timestamp === undefined ? 0 : 1)),
        }),
      };
      for (const [rows, one, between] of writers) {
        const written = asText(rows([allRows({ ref: sensor }, columns)]));
        const half = columns.count >> 1;
        const first = { source: { ref: sensor }, columns, from: 0, to: half };
        const halves = [first, { ...first, from: half, to: columns.count }];
        if (half > 0) assert.equal(asText(rows(halves)), written);
        const alone = datapoints.map((datapoint) => textOf(one(datapoint)));
        assert.equal(written, alone.join(between));
      }
    }),
    { numRuns: 500 },
  );
});

test('rows of texts that fill many pieces are written in their order', () => {
  const values = Array.from({ length: 40 }, (_, at) => (at % 7 === 3 ? at : 'é'.repeat(75 * at)));
  const datapoints = values.map((value, at) => ({ value, timestamp: at, receivedAt: at }));
  const columns = {
    ...toDatapointColumns(datapoints),
    received: Float64Array.from(values, (_, at) => at),
    timed: new Uint8Array(values.length).fill(1),
  };
  const step = values.map((_, at) => ({ source: { ref: sensor }, columns, from: at, to: at + 1 }));
  const one = createDatapointWriter(sensor, v2Spelling);
  assert.equal(asText(createJsonRows()(step)), datapoints.map((each) => one(each)).join(','));
  const lines = datapoints.map((datapoint) => csvRow({ ...sensor, datapoint }));
  assert.equal(asText(createCsvRows()(step)), lines.join(''));
});
