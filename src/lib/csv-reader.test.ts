import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CsvCell, CsvError, type CsvRecord, createCsvReader, isBlank } from './csv-reader.ts';

function read(pieces: readonly string[], recordCharactersMax = 1_000): readonly CsvRecord[] {
  const reader = createCsvReader({ recordCharactersMax });
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

const cellsOf = (records: readonly CsvRecord[]) => records.map(({ cells }) => cells);
const textsOf = (records: readonly CsvRecord[]) =>
  records.map(({ cells }) => cells.map(({ text }) => text));

const write = (cells: readonly CsvCell[], delimiter: string): string =>
  cells
    .map(({ text, isQuoted }) => (isQuoted ? `"${text.replaceAll('"', '""')}"` : text))
    .join(delimiter);

const quotedCell = fc
  .string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', '=', '測') })
  .map((text): CsvCell => ({ text, isQuoted: true }));
const bareCell = fc
  .string({ unit: fc.constantFrom('a', '1', ' ', '.', '測'), minLength: 1 })
  .map((text): CsvCell => ({ text, isQuoted: false }));
const record = fc.array(fc.oneof(quotedCell, bareCell), { minLength: 2, maxLength: 5 });

test('what was written is read back, wherever the text is cut', () => {
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(',', ';'),
      fc.constantFrom('\r\n', '\n', '\r'),
      fc.boolean(),
      fc.array(fc.nat({ max: 200 })),
      (records, delimiter, lineEnd, isEnded, cuts) => {
        const lines = records.map((cells) => write(cells, delimiter)).join(lineEnd);
        const text = lines + (isEnded ? lineEnd : '');
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const pieces = places.map((place, index) => text.slice(places[index - 1] ?? 0, place));
        const filled = records.filter((cells) => !cells.every(isBlank));
        assert.deepEqual(cellsOf(read(pieces)), filled);
      },
    ),
    { numRuns: 300 },
  );
});

test('any text is read or refused with a line, whole and in pieces alike', () => {
  const anything = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\ufeff') });
  const outcome = (pieces: readonly string[]): unknown => {
    try {
      return read(pieces);
    } catch (error) {
      assert.ok(error instanceof CsvError && error.line >= 1);
      return 'refused';
    }
  };
  fc.assert(
    fc.property(anything, (text) => {
      assert.deepEqual(outcome([...text]), outcome([text]));
    }),
    { numRuns: 500 },
  );
});

test('records know the line they begin at, past empty lines and a byte order mark', () => {
  const records = read(['\ufeffa,b\n\n"two\nlines",c\r\nd,e']);
  assert.deepEqual(
    records.map(({ line }) => line),
    [1, 3, 5],
  );
  assert.deepEqual(textsOf(records)[0], ['a', 'b']);
});

test('the first separator outside of quotes decides for all records', () => {
  assert.deepEqual(textsOf(read(['"a,b";c\n1,5;2'])), [
    ['a,b', 'c'],
    ['1,5', '2'],
  ]);
});

test('an open quote, text after a quote, and an endless record are refused', () => {
  assert.throws(() => read(['a,b\n"open']), /line 2: a quote is never closed/);
  assert.throws(() => read(['a,b\n"x"y,z']), /line 2: text follows a closing quote/);
  assert.throws(() => read(['a,b\n"', 'x'.repeat(600), 'x'.repeat(600)]), /line 2: a record may/);
});

test('a record has as many cells as a spreadsheet has columns', () => {
  const cells = (count: number) => Array.from({ length: count }, () => '1').join(',');
  assert.equal(read([`${cells(16_384)}\n`], 100_000)[0]?.cells.length, 16_384);
  assert.throws(() => read([`${cells(16_385)}\n`], 100_000), /may have 16384 cells/);
});

test('a first record that does not end is looked at once, in however many pieces it comes', () => {
  const before = process.threadCpuUsage().user;
  assert.throws(() => read(['"', ...Array(1_500).fill('""'.repeat(512))], 10_000_000), /never/);
  const usedMs = (process.threadCpuUsage().user - before) / 1_000;
  assert.ok(usedMs < 1_000, `${usedMs} ms`);
});

test('a record that comes in small pieces is not copied with each of them', () => {
  const cpuMsOf = (pieces: readonly string[]): number => {
    const before = process.cpuUsage();
    const reader = createCsvReader({ recordCharactersMax: 4_000_000 });
    for (const piece of pieces) reader.push(piece);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  for (const start of ['"', 'sep=,', 'timestamp,value\n1,"', 'timestamp,value\n1,x']) {
    const piece = ' '.repeat(500);
    const ms = cpuMsOf([start, ...Array.from({ length: 4_000 }, () => piece)]);
    assert.ok(ms < 1_500, `${JSON.stringify(start)}: ${ms} ms`);
  }
});
