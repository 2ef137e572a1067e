import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { formatTimestamp, parseTimestamp } from './timestamp.ts';

const instantMin = Date.parse('0000-01-01T00:00:00.000Z');
const instantMax = Date.parse('9999-12-31T23:59:59.999Z');
const anyInstant = fc.integer({ min: instantMin, max: instantMax });

function same(text: string, expected: string): void {
  const instant = parseTimestamp(text);
  assert.equal(instant === undefined ? undefined : new Date(instant).toISOString(), expected, text);
}

test('every offset spelling is understood, and none means UTC', () => {
  const expected = '2016-06-08T18:20:27.873Z';
  same('2016-06-08T18:20:27.873Z', expected);
  same('2016-06-08T18:20:27.873z', expected);
  same('2016-06-08T18:20:27.873', expected);
  same('2016-06-08T20:20:27.873+02:00', expected);
  same('2016-06-08T20:20:27.873+0200', expected);
  same('2016-06-08T20:20:27.873+02', expected);
  same('2016-06-08T13:20:27.873-05', expected);
  same('2016-06-08T23:50:27.873+0530', expected);
  same('2016-06-08T18:20:27.873-00:00', expected);
  same('2016-06-09T08:20:27.873+14:00', expected);
});

test('a plus that a URL turned into a space is still a plus', () => {
  same('2016-06-08T20:20:27 02:00', '2016-06-08T18:20:27.000Z');
  same('2016-06-08 20:20 0200', '2016-06-08T18:20:00.000Z');
  same('2016-06-08 20:20:27  02:00', '2016-06-08T18:20:27.000Z');
  same('2016-06-08T20:20:27.5 02', '2016-06-08T18:20:27.500Z');
});

test('a space or a small t may separate, and a space may precede the offset', () => {
  same('2016-06-08 18:20:27', '2016-06-08T18:20:27.000Z');
  same('2016-06-08t18:20:27z', '2016-06-08T18:20:27.000Z');
  same('2016-06-08 18:20:27 +0200', '2016-06-08T16:20:27.000Z');
  same('2016-06-08 18:20:27 Z', '2016-06-08T18:20:27.000Z');
});

test('a fraction of any length is cut to milliseconds', () => {
  same('2016-06-08T18:20:27.8Z', '2016-06-08T18:20:27.800Z');
  same('2016-06-08T18:20:27.08Z', '2016-06-08T18:20:27.080Z');
  same('2016-06-08T18:20:27,873Z', '2016-06-08T18:20:27.873Z');
  same('2016-06-08T18:20:27.873999999Z', '2016-06-08T18:20:27.873Z');
  same(`2016-06-08T18:20:27.9${'9'.repeat(30)}Z`, '2016-06-08T18:20:27.999Z');
  same('1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z');
});

test('seconds, minutes and the whole time may be missing', () => {
  same('2016-06-08T18:20Z', '2016-06-08T18:20:00.000Z');
  same('2016-06-08T18Z', '2016-06-08T18:00:00.000Z');
  same('2016-06-08T18+02:00', '2016-06-08T16:00:00.000Z');
  same('2016-06-08T18:20', '2016-06-08T18:20:00.000Z');
  same('2016-06-08', '2016-06-08T00:00:00.000Z');
});

test('24:00 and second 60 roll over', () => {
  same('2016-06-08T24:00:00Z', '2016-06-09T00:00:00.000Z');
  same('2016-12-31T24:00', '2017-01-01T00:00:00.000Z');
  same('2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z');
  same('2016-12-31T23:59:60.5Z', '2017-01-01T00:00:00.500Z');
});

test('years run from 0000 to 9999, also after the offset is taken off', () => {
  same('0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z');
  same('0000-02-29', '0000-02-29T00:00:00.000Z');
  same('0099-12-31', '0099-12-31T00:00:00.000Z');
  same('9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z');
  assert.equal(parseTimestamp('0000-01-01T00:00:00+00:01'), undefined);
  assert.equal(parseTimestamp('9999-12-31T24:00:00Z'), undefined);
});

test('what is no date and time is undefined', () => {
  const refused = ['', 'now', '2016', '2016-06', '2016-13-01', '2016-00-01', '2016-01-00'];
  refused.push('2016-02-30', '2015-02-29', '1900-02-29', '2016-04-31', '2016-6-8', '20160608');
  refused.push('2016-06-08T', '2016-06-08T1', '2016-06-08T25', '2016-06-08T24:01', '16-06-08');
  refused.push('2016-06-08T24:00:00.001', '2016-06-08T18:60', '2016-06-08T18:20:61', 'x016-06-08');
  refused.push('2016-06-08T18:20:27.', '2016-06-08T18:20:27.Z', '2016-06-08T18:', '2016/06/08');
  refused.push('2016-06-08T18:20:27ZZ', '2016-06-08T18:20:27Z ', ' 2016-06-08', '2016-06-08Z');
  refused.push('2016-06-08T18:20:27+', '2016-06-08T18:20:27+2', '2016-06-08T18:20:27+24:00');
  refused.push('2016-06-08T18:20:27+02:60', '2016-06-08T18:20:27+02:', '2016-06-08T18:20:27+02:0');
  refused.push('2016-06-08T18:20:27+02:000', '2016-06-08T18:20:27+020', '+002016-06-08T18:20Z');
  refused.push('2016-06-08T18:20:27 ', '2016-06-08T٠٠:00:00Z');
  refused.push('2016-06-08_18:20:27', '2016-06-08T18.5', '2016-06-08T18:20:27 UTC', 'T18:20:27');
  refused.push(`2016-06-08T18:20:27.${'9'.repeat(1_000_000)}Z`);
  for (const text of refused) assert.equal(parseTimestamp(text), undefined, text.slice(0, 80));
});

test('exactly the days of the calendar are dates', () => {
  const anyDate = fc.tuple(fc.nat(9_999), fc.nat(13), fc.nat(32));
  fc.assert(
    fc.property(anyDate, ([year, month, day]) => {
      const two = (number: number) => String(number).padStart(2, '0');
      const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
      const date = new Date(0);
      date.setUTCFullYear(year, month - 1, day);
      const isReal = date.toISOString().startsWith(text);
      assert.equal(parseTimestamp(text), isReal ? date.getTime() : undefined);
    }),
    { numRuns: 2_000 },
  );
});

test('every instant is formatted as Date does, and read back as it was', () => {
  // Pairs, so that both the remembered day and a change of day are met.
  fc.assert(
    fc.property(anyInstant, fc.integer({ min: -90_000_000, max: 90_000_000 }), (first, step) => {
      const second = Math.min(instantMax, Math.max(instantMin, first + step));
      for (const instant of [first, second, first]) {
        const text = formatTimestamp(instant);
        assert.equal(text, new Date(instant).toISOString());
        assert.equal(parseTimestamp(text), instant);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('an offset is taken off the local time', () => {
  const offsets = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
  const inner = fc.integer({ min: instantMin + 86_400_000, max: instantMax - 86_400_000 });
  fc.assert(
    fc.property(inner, offsets, (instant, minutes) => {
      const local = new Date(instant + minutes * 60_000).toISOString().slice(0, -1);
      const hours = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0');
      const rest = String(Math.abs(minutes) % 60).padStart(2, '0');
      const sign = minutes < 0 ? '-' : '+';
      assert.equal(parseTimestamp(`${local}${sign}${hours}:${rest}`), instant);
      assert.equal(parseTimestamp(`${local}${sign}${hours}${rest}`), instant);
    }),
    { numRuns: 1_000 },
  );
});

test('arbitrary text is an instant or undefined', () => {
  const piece = fc.constantFrom('2016-06-08', 'T18', ':20', ':27', '.5', '+02', ':00', 'Z', ' ');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((texts) => texts.join('')),
      ),
      (text) => {
        const instant = parseTimestamp(text);
        assert.ok(instant === undefined || Number.isInteger(instant), text);
      },
    ),
  );
});

test('odd instants are formatted as Date does', () => {
  const odd = [instantMax + 1, instantMin - 1, 8.64e15, -8.64e15, 0.5, -0.5, 1e12 + 0.25, -0];
  for (const instant of odd) {
    assert.equal(formatTimestamp(instant), new Date(instant).toISOString());
    assert.equal(formatTimestamp(instant), new Date(instant).toISOString());
  }
  assert.throws(() => formatTimestamp(Number.NaN), RangeError);
});

test('writes the days around the ends of all years and Februaries as Date does', () => {
  for (let year = 0; year <= 9_999; year += 1) {
    for (const [month, date] of [
      [0, 1],
      [1, 28],
      [1, 29],
      [2, 1],
      [11, 31],
    ] as const) {
      const instant = new Date(0).setUTCFullYear(year, month, date);
      assert.equal(formatTimestamp(instant), new Date(instant).toISOString());
    }
  }
  for (const instant of [-1, 253_402_300_800_000, -62_167_219_200_001]) {
    assert.equal(formatTimestamp(instant), new Date(instant).toISOString());
  }
});
