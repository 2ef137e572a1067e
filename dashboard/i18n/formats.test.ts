import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeZone } from '../charts/zone.ts';
import {
  formatAge,
  formatDate,
  formatExactly,
  formatNumber,
  formatSpan,
  formatValue,
  numberOf,
} from './formats.ts';
import { t } from './i18n.ts';
import { formatStored } from './later-formats.ts';

const now = Date.UTC(2026, 2, 1, 12);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const ages: readonly (readonly [ageMs: number, text: string])[] = [
  [0, 'just now'],
  [9_999, 'just now'],
  [10_000, '10 s ago'],
  [59_999, '59 s ago'],
  [minute, '1 min ago'],
  [59 * minute, '59 min ago'],
  [hour, '1 h ago'],
  [47 * hour, '47 h ago'],
  [48 * hour, '2 days ago'],
  [59 * day, '59 days ago'],
  [61 * day, '2 months ago'],
  [3 * 366 * day, '3 years ago'],
  [-minute, 'just now'],
  [-10 * minute, 'in the future'],
];
for (const [ageMs, text] of ages) {
  test(`${ageMs} ms old is "${text}"`, () => {
    assert.equal(formatAge(now - ageMs, now, t), text);
  });
}

test('what never was has no age', () => {
  assert.equal(formatAge(undefined, now, t), 'never');
  assert.equal(formatAge(Number.NaN, now, t), 'never');
});

const numbers: readonly (readonly [value: number, text: string])[] = [
  [0, '0'],
  [23.4, '23.4'],
  [23.456789, '23.46'],
  [-0.5, '-0.5'],
  [1013.256, '1,013.3'],
  [0.003123, '0.00312'],
  [123456789, '123,456,789'],
  [1e15, '1E15'],
  [1e-9, '1E-9'],
  [Number.NaN, '–'],
];
for (const [value, text] of numbers) {
  test(`${value} is written ${text}`, () => assert.equal(formatNumber(value, 'en'), text));
}

test('numbers follow the language', () => {
  assert.equal(formatNumber(23.45, 'fr'), '23,45');
  assert.equal(formatNumber(23.45, 'pt'), '23,45');
});

test('numbers that are written by hand are those that Intl writes', () => {
  const value = fc.oneof(
    fc.double({ min: -2_000, max: 2_000, noNaN: true }),
    fc.double({ min: 1e-6, max: 0.2, noNaN: true }),
    fc.integer({ min: -200_000, max: 200_000 }).map((number) => number / 200),
    fc.constantFrom(-0, 999.995, -999.996, 0.1, 999.99, 1e-6),
  );
  fc.assert(
    fc.property(value, fc.constantFrom('en', 'fr', 'pt', 'sw', 'de'), (number, language) => {
      const size = Math.abs(number);
      fc.pre(size >= 1e-6 || size === 0);
      const small = Math.min(8, 2 - Math.floor(Math.log10(size)));
      const usual = size >= 1_000 ? 1 : 2;
      const maximumFractionDigits = size >= 0.1 || size === 0 ? usual : small;
      const wanted = new Intl.NumberFormat(language, { maximumFractionDigits }).format(number);
      assert.equal(formatNumber(number, language), wanted);
    }),
    { numRuns: 2_000 },
  );
});

test('values of every kind become text', () => {
  assert.equal(formatValue(true, 'en', t), 'on');
  for (const text of ['241408E4', '000012300007', '1.10', ' 25.10']) {
    assert.equal(formatValue(text, 'en', t), text);
  }
  assert.equal(formatValue(8_403_802_351_740_888, 'en', t), '8,403,802,351,740,888');
  assert.equal(formatValue('<b>open</b>', 'en', t), '<b>open</b>');
  assert.equal(formatValue(null, 'en', t), '–');
  assert.equal(formatValue({ a: [1] }, 'en', t), '{"a":[1]}');
});

test('what somebody wrote keeps its digits', () => {
  assert.equal(formatExactly('840380235174088835', 'en'), '840380235174088835');
  assert.equal(formatExactly('0.12345678901234567890', 'fr'), '0,12345678901234567890');
  assert.equal(formatExactly('840380235174088', 'en'), '840,380,235,174,088');
  assert.equal(formatExactly('99.996', 'fr'), '99,996');
  assert.equal(formatExactly('1e-9', 'en'), '1E-9');
  assert.equal(formatStored(23.456789, 'fr', t), '23,456789');
  assert.equal(formatStored(23.399999618530273, 'en', t), '23.399999618530273');
  assert.equal(formatStored('1.10', 'en', t), '1.10');
});

test('text that is a number counts as one, other text does not', () => {
  assert.equal(numberOf('25'), 25);
  assert.equal(numberOf(' -1.5e3 '), -1500);
  for (const value of ['', ' ', '0x10', 'Infinity', '1,5', '25 C', true, null, [1], Number.NaN]) {
    assert.equal(numberOf(value), undefined);
  }
});

test('dates are shown on the clock of the zone asked for', () => {
  const inDakar = { language: 'en', style: 'time', zone: 'Africa/Dakar' } as const;
  assert.equal(formatDate(now, inDakar), '12:00');
  assert.equal(formatDate(now, { ...inDakar, zone: 'Africa/Nairobi' }), '15:00');
  assert.equal(formatDate(Number.NaN, inDakar), '–');
  assert.equal(formatDate(Date.UTC(2026, 2, 1), { ...inDakar, style: 'time' }), '00:00');
});

test('a zone is told with its distance from UTC', () => {
  assert.equal(describeZone('Africa/Nairobi', now), 'Africa/Nairobi (UTC+3)');
  assert.equal(describeZone('Africa/Dakar', now), 'Africa/Dakar (UTC+0)');
  assert.equal(describeZone('UTC', now), 'UTC');
});

test('stretches of time are told in their largest whole unit', () => {
  assert.equal(formatSpan(15 * minute, t), '15\u00a0minutes');
  assert.equal(formatSpan(hour, t), '1\u00a0hour');
  assert.equal(formatSpan(36 * hour, t), '36\u00a0hours');
  assert.equal(formatSpan(7 * day, t), '7\u00a0days');
  assert.equal(formatSpan(365 * day, t), '12\u00a0months');
});

test('a number beside a line looks like the line only where it is on it', () => {
  assert.equal(formatNumber(99.996, 'en', 100), '99.996');
  assert.equal(formatNumber(100, 'en', 100), '100');
  assert.equal(formatNumber(99.9, 'en', 100), '99.9');
  assert.equal(formatNumber(21.4996, 'fr', 21.5), '21,4996');
  assert.equal(formatNumber(1_000.04, 'en', 1_000), '1,000.04');
  assert.equal(formatNumber(0.30000000000000004, 'en', 0.3), '0.30000000000000004');
  assert.equal(formatNumber(1e12 + 1, 'en', 1e12), '1,000,000,000,001');
});
