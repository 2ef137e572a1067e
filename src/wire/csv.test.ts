import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { csvRow } from '../../test/csv-row.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { cellJson } from '../lib/csv-cell.ts';
import { type JsonValue, parseJson } from '../lib/json.ts';
import { LongJson } from '../lib/long-json.ts';
import { csvHeader, textCell, valueCell } from './csv.ts';

interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The cells of one record by RFC 4180, with the rest of the text after its line end. */
function readRecord(text: string): { cells: Cell[]; rest: string } {
  const cells: Cell[] = [];
  let rest = text;
  while (true) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest);
    assert.ok(match !== null, `no cell at ${JSON.stringify(rest)}`);
    const [whole, quoted, bare, end] = match;
    const isQuoted = quoted !== undefined;
    cells.push({ text: isQuoted ? quoted.replaceAll('""', '"') : (bare ?? ''), isQuoted });
    rest = rest.slice(whole.length);
    if (end === '\r\n') return { cells, rest };
  }
}

const receivedAt = Date.parse('2016-06-08T18:20:28.001Z');
const ids = { deviceId: parseDeviceId('Station-1'), sensorId: parseSensorId('TC1') };

/** A row that is written at once. */
function wholeRow(row: Parameters<typeof csvRow>[0]): string {
  const text = csvRow(row);
  if (typeof text === 'string') return text;
  throw new Error('the row is of a long value');
}

function restored(value: JsonValue): JsonValue {
  const { cells, rest } = readRecord(wholeRow({ ...ids, datapoint: { value, receivedAt } }));
  assert.equal(rest, '');
  assert.equal(cells.length, 5);
  return parseJson(cellJson(cells[2] as Cell, false));
}

test('a row has the columns of the header and ends with CRLF', () => {
  assert.equal(csvHeader(), 'device_id,sensor_id,value,timestamp,date_received\r\n');
  const timestamp = Date.parse('2016-06-08T18:20:27.873Z');
  assert.equal(
    csvRow({ ...ids, datapoint: { value: 25.6, timestamp, receivedAt } }),
    'Station-1,TC1,25.6,2016-06-08T18:20:27.873Z,2016-06-08T18:20:28.001Z\r\n',
  );
});

test('a long value comes back from its row, which is made slice by slice', () => {
  const lookalike = fc.constantFrom('[1]', '{}', '"a"', '=1', "'a", '-', ' [', '12', 'null', ' 1 ');
  const value = fc.oneof(fc.string({ unit: 'binary' }), lookalike, fc.jsonValue());
  fc.assert(
    fc.property(value as fc.Arbitrary<JsonValue>, (read) => {
      const text = JSON.stringify(read);
      const row = csvRow({ ...ids, datapoint: { value: new LongJson(text), receivedAt } });
      assert.notEqual(typeof row, 'string');
      const { cells, rest } = readRecord([...row].join(''));
      assert.equal(rest, '');
      assert.equal(cells.length, 5);
      const cell = cells[2] as Cell;
      // Numbers and words are never long: in quotes they are texts.
      const isShort = typeof read !== 'string' && (typeof read !== 'object' || read === null);
      assert.equal(
        JSON.stringify(parseJson(cellJson(cell, false))),
        isShort ? JSON.stringify(text) : text,
      );
    }),
    { numRuns: 2_000 },
  );
});

test('an absent timestamp is an empty cell', () => {
  assert.equal(
    csvRow({ ...ids, datapoint: { value: 'wet', receivedAt } }),
    'Station-1,TC1,wet,,2016-06-08T18:20:28.001Z\r\n',
  );
});

test('a value cell tells numbers from text and JSON from text that looks like it', () => {
  const cases: [JsonValue, string][] = [
    [25.5, '25.5'],
    [-3, '-3'],
    [true, 'true'],
    [null, 'null'],
    [parseJson('12345678901234567890'), '12345678901234567890'],
    ['25', '"25"'],
    ['-3', '"-3"'],
    [' 25 ', '" 25 "'],
    ['null', '"null"'],
    ['wet', 'wet'],
    ['wet, cold', '"wet, cold"'],
    ['a "b"', '"a ""b"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['', '""'],
    [[1, 2], '"[1,2]"'],
    [{ a: 'b' }, '"{""a"":""b""}"'],
    [{}, '"{}"'],
    ['[1,2]', '"""[1,2]"""'],
    ['"x"', '"""\\""x\\"""""'],
    ['1e999', '1e999'],
    ['nan', '"nan"'],
    ['241408E4', '241408E4'],
    ['1.10', '"1.10"'],
    ['off\0', '"off\0"'],
    [parseJson('12345678901234567890E3'), '12345678901234567890E+3'],
    ['\ud800', '"""\\ud800"""'],
  ];
  for (const [value, cell] of cases) assert.equal(valueCell(value), cell);
});

test('no cell starts a formula unless it is a plain number', () => {
  const cases: [string, string][] = [
    ['=1+1', "'=1+1"],
    ['+A1', "'+A1"],
    ['-A1', "'-A1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['\n=x', `"'\n=x"`],
    ['\n5', `"'\n5"`],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ["'x", "''x"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['-5e', "'-5e"],
    ['+5', '+5'],
    ['\t5', "'\t5"],
    ['5-1', '5-1'],
  ];
  for (const [value, cell] of cases) {
    assert.equal(valueCell(value), cell);
    assert.equal(restored(value), value);
  }
  assert.equal(textCell('-1'), '-1');
  const odd = { deviceId: parseDeviceId('@a,b'), sensorId: parseSensorId('-x') };
  const row = wholeRow({ ...odd, datapoint: { value: 1, receivedAt } });
  assert.ok(row.startsWith(`"'@a,b",'-x,1,,`));
});

test('a value cell gives back exactly the value that was written', () => {
  const scrap = fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    "'",
    '"',
    ',',
    '1',
    'e9',
    ' ',
  );
  const trap = fc.array(fc.oneof(scrap, fc.constantFrom('null', 'true', '[', ']', '{}', '\ud800')));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.jsonValue({ maxDepth: 2 }).map((inner) => JSON.stringify(inner)),
    fc.string({ unit: 'binary' }),
    trap.map((pieces) => pieces.join('')),
    fc.bigInt().map((digits) => parseJson(String(digits))),
  );
  fc.assert(
    fc.property(value, (written) => {
      const back = restored(written as JsonValue);
      assert.equal(typeof back, typeof written);
      assert.equal(JSON.stringify(back), JSON.stringify(written));
    }),
    { numRuns: 3_000 },
  );
});

test('no cell that a spreadsheet opens begins with a formula character', () => {
  const start = fc.constantFrom(...'=+-@\t\r\n＝＋－＠', '');
  fc.assert(
    fc.property(start, fc.string(), (first, others) => {
      const { cells } = readRecord(`${valueCell(first + others)}\r\n`);
      const text = cells[0]?.text ?? '';
      assert.ok(
        !/^[=+\-@\t\r\n＝＋－＠]/.test(text) || /^[+-][\d.]+(?:e[+-]?\d+)?$/i.test(text),
        text,
      );
    }),
    { numRuns: 1_000 },
  );
});
