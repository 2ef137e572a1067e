/** A CSV file as people have it, and what every reader of it stores. */
export interface CsvFile {
  readonly name: string;
  /** For one sensor of one device, whose ids some files name. */
  readonly bytes: (device: string, sensor: string) => Uint8Array;
  readonly zone?: string;
  /** Values as JSON text, by their times in UTC; without a time those of receipt are not told. */
  readonly stored: readonly (readonly [string | undefined, string])[];
  /** Lines of rows that are refused alone. */
  readonly refused?: readonly number[];
}

const day = '2026-03-20T';
const nine = `${day}09:00:00.000Z`;
const ten = `${day}10:00:00.000Z`;
const two = [
  [nine, '21.5'],
  [ten, '22'],
] as const;
const head = 'timestamp,value\n';
const utf8 = (text: string) => () => Buffer.from(text);
const latin = (text: string) => () => Buffer.from(text, 'latin1');
const utf16 = (text: string) => () => Buffer.from(`\u{feff}${text}`, 'utf16le');
const utf16be = (text: string) => () => Buffer.from(`\u{feff}${text}`, 'utf16le').swap16();
/** One value at nine. */
const cell = (text: string, json: string) => ({
  bytes: utf8(`${head}${nine},${text}\n`),
  stored: [[nine, json]] as const,
});
const refusedAlone = { stored: [[ten, '22']] as const, refused: [2] };

/** Spreadsheets, loggers and exports, with what they do to a CSV. */
export const csvZoo: readonly CsvFile[] = [
  { name: 'plain', bytes: utf8(`${head}${nine},21.5\n${ten},22\n`), stored: two },
  { name: 'without a header', bytes: utf8(`${nine},21.5\n${ten},22`), stored: two },
  { name: 'CRLF', bytes: utf8(`timestamp,value\r\n${nine},21.5\r\n${ten},22\r\n`), stored: two },
  { name: 'CR', bytes: utf8(`timestamp,value\r${nine},21.5\r${ten},22\r`), stored: two },
  { name: 'a byte order mark', bytes: utf8(`\u{feff}${head}${nine},21.5\n${ten},22`), stored: two },
  {
    name: 'a column beside the times with a name of its own',
    bytes: utf8(`Time;Temperatur (\u{b0}C);\n${nine};21,5;\n${ten};22;\n`),
    stored: two,
  },
  {
    name: 'semicolons and decimal commas',
    bytes: utf8(`timestamp;value\n${nine};21,5\n${ten};22\n`),
    stored: two,
  },
  {
    name: 'decimal commas of times, too',
    bytes: utf8('2026-03-20 09:00:00,000;21,5\n2026-03-20 10:00:00,000;22\n'),
    stored: two,
  },
  {
    name: 'more decimal commas',
    bytes: utf8(`timestamp;value\n${nine};-0,5e-3\n${ten};12345678901234567,5\n`),
    stored: [
      [nine, '-0.0005'],
      [ten, '12345678901234567.5'],
    ],
  },
  {
    name: 'a comma that is of no decimal',
    bytes: utf8(`timestamp;value\n${nine};1,2,3\n${ten};007,5\n`),
    stored: [
      [nine, '"1,2,3"'],
      [ten, '"007,5"'],
    ],
  },
  {
    name: 'sep=;',
    bytes: utf8(`sep=;\r\ntimestamp;value\r\n${nine};21,5\r\n${ten};22\r\n`),
    stored: two,
  },
  {
    name: 'sep=, in quotes after a byte order mark',
    bytes: utf8(`\u{feff}"SEP=,",\r\n${head}${nine},21.5\n${ten},22\n`),
    stored: two,
  },
  {
    name: 'sep=| before lines without a header',
    bytes: utf8(`sep=|\n${nine}|21,5\n${ten}|22\n`),
    stored: two,
  },
  {
    name: 'tabs',
    bytes: utf8(`timestamp\tvalue\n${nine}\t21,5\n${ten}\t22\n`),
    stored: two,
  },
  {
    name: 'Unicode Text of a spreadsheet',
    bytes: utf16(`timestamp\tvalue\r\n${nine}\t21,5\r\n${ten}\tnaïf €\r\n`),
    stored: [two[0], [ten, '"naïf €"']],
  },
  {
    name: 'UTF-16 with its bytes the other way round',
    bytes: utf16be(`${head}${nine},21.5\n${ten},22\n`),
    stored: two,
  },
  {
    name: 'Windows-1252',
    bytes: latin(`Größe;timestamp;value\n\u{80};${nine};20 \u{b0}C\n;${ten};\u{80} na\u{ef}f\n`),
    stored: [
      [nine, '"20 °C"'],
      [ten, '"€ naïf"'],
    ],
  },
  {
    name: 'Windows-1252 that begins as UTF-8 might',
    bytes: latin(`${head}${nine},\u{c3}\u{a9}\n${ten},\u{e9}\n`),
    stored: [
      [nine, '"Ã©"'],
      [ten, '"é"'],
    ],
  },
  {
    name: 'UTF-8 beyond ASCII',
    bytes: utf8(`${head}${nine},20 °C\n${ten},测量 🌱\n`),
    stored: [
      [nine, '"20 °C"'],
      [ten, '"测量 🌱"'],
    ],
  },
  {
    name: 'empty rows between and behind',
    bytes: utf8(`${head}\n${nine},21.5\n , \n${ten},22\n,\n,\n\n\n`),
    stored: two,
  },
  {
    name: 'empty columns and NULs behind',
    bytes: utf8(`timestamp;value;;\n${nine};21,5;;\n${ten};22\n;;;\n\0\0\0\0`),
    stored: two,
  },
  {
    name: 'more columns, in another order',
    bytes: utf8(`Value ,note, Timestamp\n21.5,"a, b",${nine}\n22,,${ten}\n`),
    stored: two,
  },
  {
    name: 'line feeds and quotes in quotes',
    bytes: utf8(`${head}${nine},"two\r\nlines, ""quoted"""\r\n${ten},22\n`),
    stored: [[nine, '"two\\r\\nlines, \\"quoted\\""'], two[1]],
  },
  { name: 'a structure over two lines', ...cell('"{""a"":\n[1e3,null]}"', '{"a":[1000,null]}') },
  { name: 'text of digits in quotes', ...cell('"25"', '"25"') },
  { name: 'hexadecimal digits', ...cell('241408E4', '"241408E4"') },
  { name: 'leading zeros', ...cell('000012300007', '"000012300007"') },
  { name: 'a version in quotes', ...cell('"1.10"', '"1.10"') },
  { name: 'an integer no double holds', ...cell('840380235174088834', '840380235174088834') },
  { name: 'words of JSON', ...cell('null', 'null') },
  { name: 'an empty text', ...cell('""', '""') },
  { name: 'a number in padding', ...cell(' 21.5 ', '21.5') },
  { name: 'the guard of a formula', ...cell("'=1+1", '"=1+1"') },
  { name: 'the guard of an apostrophe', ...cell('"\'\'tis, cold"', '"\'tis, cold"') },
  { name: 'an apostrophe that guards nothing', ...cell("'90s", '"\'90s"') },
  { name: 'a formula that nobody guarded', ...cell('=1+1', '"=1+1"') },
  {
    name: 'a probe that failed',
    bytes: utf8(`${head}${nine},NaN\n${ten},22\n`),
    ...refusedAlone,
  },
  { name: 'a row without a value', bytes: utf8(`${head}${nine},\n${ten},22\n`), ...refusedAlone },
  { name: 'a row that is cut', bytes: utf8(`${head}${nine}\n${ten},22\n`), ...refusedAlone },
  {
    name: 'a row with a cell too many',
    bytes: utf8(`${head}${nine},1,2\n${ten},22\n`),
    ...refusedAlone,
  },
  {
    name: 'a day that is none',
    bytes: utf8(`${head}2026-02-30 09:00,1\n${ten},22\n`),
    ...refusedAlone,
  },
  {
    name: 'local times, and some that say their offset',
    zone: 'Africa/Nairobi',
    bytes: utf8(`${head}2026-03-20 12:00,21.5\n2026-03-20T12:00:00+02:00,22\n`),
    stored: two,
  },
  {
    name: 'a time that the clocks left out',
    zone: 'Europe/Berlin',
    bytes: utf8(`${head}2026-03-29 02:30,1\n2026-03-29 03:30,2\n2026-03-29 01:59:59.999,3\n`),
    stored: [
      ['2026-03-29T00:59:59.999Z', '3'],
      ['2026-03-29T01:30:00.000Z', '2'],
    ],
    refused: [2],
  },
  {
    name: 'a time that came twice',
    zone: 'Europe/Berlin',
    bytes: utf8(`${head}2026-10-25 02:30,1\n2026-10-25 02:30:00+01:00,2\n`),
    stored: [
      ['2026-10-25T00:30:00.000Z', '1'],
      ['2026-10-25T01:30:00.000Z', '2'],
    ],
  },
  {
    name: 'a column that says its zone, whatever was chosen',
    zone: 'America/Bogota',
    bytes: utf8('timestamp (Africa/Nairobi),value\n2026-03-20 12:00,21.5\n2026-03-20 13:00,22\n'),
    stored: two,
  },
  {
    name: 'an answer of the service',
    bytes: (device, sensor) =>
      Buffer.from(
        'device_id,sensor_id,value,timestamp,date_received\r\n' +
          `${device},${sensor},21.5,${nine},${ten}\r\n${device},${sensor},22,,${ten}\r\n`,
      ),
    stored: two,
  },
  {
    name: 'one column for each sensor',
    bytes: (device, sensor) =>
      Buffer.from(`timestamp;${device}/${sensor};note\n${nine};21,5;\n${day}09:30Z;;x\n${ten};22`),
    stored: two,
  },
  {
    name: 'times as other programs name them',
    bytes: utf8(`Time;Value\n${nine};21,5\n${ten};22\n`),
    stored: two,
  },
  {
    name: 'rows without a time',
    bytes: utf8('value\n21.5\n22\n'),
    stored: [
      [undefined, '21.5'],
      [undefined, '22'],
    ],
  },
];

/** Files that no reader takes, and where each begins to be none. */
export const noCsv: readonly { readonly name: string; readonly bytes: Uint8Array; says: RegExp }[] =
  [
    { name: 'no column of values', bytes: Buffer.from('a,b,c\n1,2,3\n'), says: /^line 1: name / },
    {
      name: 'values beside times that have no name',
      bytes: Buffer.from(`zeit;value\n${nine};21,5\n`),
      says: /^line 1: name the column of the times/,
    },
    {
      name: 'a day and a time of day in two columns',
      bytes: Buffer.from('date,time,value\n2026-03-20,09:00,21.5\n'),
      says: /^line 1: name the column of the times/,
    },
    {
      name: 'two columns of values',
      bytes: Buffer.from(`timestamp,value,Value\n${nine},21.5,22\n`),
      says: /^line 1: two columns are named value/,
    },
    {
      name: 'an open quote',
      bytes: Buffer.from(`${head}${nine},"open`),
      says: /^line 2: .*closed/,
    },
    {
      name: 'a zone that is none',
      bytes: Buffer.from('timestamp (Mars/Base),value\n2026-03-20 12:00,1\n'),
      says: /^line 1: the timezone Mars\/Base/,
    },
    {
      name: 'half a character of UTF-16',
      bytes: utf16(`${head}${nine},21.5`)().subarray(0, -1),
      says: /not valid UTF-16LE/,
    },
  ];
