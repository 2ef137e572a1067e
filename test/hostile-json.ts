import fc from 'fast-check';

// Parts of JSON texts for readers of bytes: usual, odd, and wrong by a character.

const digits = fc.stringMatching(/^[0-9]{1,20}$/);
const exponent = fc.stringMatching(/^[eE][+-]?[0-9]{0,4}$/);
/** Number literals of JSON, and what is nearly one. */
export const numberText = fc.oneof(
  fc.double().map(String),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((n) => n.toFixed(4)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n.toExponential()),
  fc.integer().map(String),
  fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.option(digits), fc.option(exponent))
    .map(([sign, whole, part, e]) => sign + whole + (part === null ? '' : `.${part}`) + (e ?? '')),
  fc.constantFrom(
    '-0',
    '-0.0',
    '0',
    '00',
    '01',
    '-',
    '1.',
    '.5',
    '1e400',
    '1e-400',
    '1e22',
    '1e23',
  ),
  fc.constantFrom('9007199254740993', '123456789012345', '1234567890123456', '0.1', '1E5', '1e+5'),
  fc.constantFrom('0.000001', '5e-324', '1.7976931348623157e308', '-1e-22', '12345678901234e22'),
  fc.constant(`0.${'0'.repeat(1_100)}`),
  fc.constant(`0.${'0'.repeat(300)}1`),
  fc.constant(`${'9'.repeat(2_000)}`),
);

/** Instants as they are usually written. */
export const date = fc
  .date({
    min: new Date(-62_167_219_200_000),
    max: new Date(253_402_300_799_999),
    noInvalidDate: true,
  })
  .map((given) => given.toISOString());
/** The same, and other spellings, and what is no date. */
export const timestampText = fc.oneof(
  date,
  date.map((text) => text.replace(/\.\d+Z/, 'Z')),
  date.map((text) => text.replace('Z', '+02:00')),
  fc
    .tuple(date, fc.nat({ max: 23 }), fc.constantFrom('9', '6', 'a', ' ', '-', 'z', 't', ',', '\\'))
    .map(([text, at, by]) => text.slice(0, at) + by + text.slice(at + 1)),
  fc.constantFrom('2016-02-30T00:00:00Z', '2015-02-29T00:00:00Z', '2016-02-29T24:00:00Z', ''),
  fc.constantFrom('2016-12-31T23:59:60Z', '2016-06-08T18:20Z', '2016-06-08', '2016-06-08T18:20:27'),
);

/** What stands between signs: mostly nothing, white space, or what only looks like it. */
export const gap = fc.constantFrom('', '', '', ' ', '\r\n', '\t', '\u00a0', '\ufeff');
