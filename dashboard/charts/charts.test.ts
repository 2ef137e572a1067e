import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chartLimits } from './chart-limits.ts';
import type { Palette } from './colors.ts';
import {
  appendPoint,
  columnsOfBuckets,
  columnsOfPoints,
  emptyColumns,
  firstAtOrAfter,
  gapMsOf,
} from './columns.ts';
import { chooseInterval } from './intervals.ts';
import { joinLines } from './joined.ts';
import { type PlotLook, plotOptions, timeLabels } from './plot-options.ts';
import { panned, presetRange, rangeBefore, rangeBetween, spanOf, zoomed } from './ranges.ts';
import { instantsOf, movedCursor, readingAt } from './readout.ts';
import { barEnds, scaleEnds } from './scales.ts';
import { outstandingIndex, usualEnds } from './usual.ts';

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const at = (index: number): number => start + index * minute;
const iso = (time: number): string => new Date(time).toISOString();
const points = (...values: readonly (readonly [index: number, value: unknown])[]) =>
  columnsOfPoints(values.map(([index, value]) => ({ timestamp: iso(at(index)), value })));

test('an interval gives no more points than the width shows, and not far fewer', () => {
  assert.deepEqual(chooseInterval(86_400_000, 800), { text: '5m', ms: 5 * minute });
  assert.equal(chooseInterval(7 * 86_400_000, 800).text, '30m');
  assert.equal(chooseInterval(365 * 86_400_000, 800).text, '1d');
  assert.equal(chooseInterval(60_000, 800).text, '1s');
  assert.equal(chooseInterval(300 * 365 * 86_400_000, 800).text, '1mo');
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3e11 }),
      fc.integer({ min: 1, max: 4_000 }),
      (span, width) => {
        const { ms } = chooseInterval(span, width);
        assert.ok(span / ms <= Math.max(chartLimits.pointsMin, width / chartLimits.pixelsPerPoint));
      },
    ),
  );
});

test('ranges move, zoom and compare without changing their length by accident', () => {
  const range = presetRange('week', start);
  assert.equal(spanOf(range), 7 * 86_400_000);
  assert.deepEqual(rangeBefore(range), { from: range.from - spanOf(range), to: range.from });
  assert.equal(spanOf(panned(range, 0.5)), spanOf(range));
  const closer = zoomed(range, 0.5, range.to);
  assert.equal(closer.to, range.to);
  assert.equal(spanOf(closer), spanOf(range) / 2);
  assert.equal(spanOf(zoomed(range, 1e-12, range.from)), chartLimits.spanMsMin);
  assert.deepEqual(rangeBetween(at(9), at(2)), { from: at(2), to: at(9) });
});

test('texts that are numbers are drawn, other values become steps', () => {
  const columns = points([0, 1], [1, '2.5'], [2, 'open'], [3, 'open'], [4, true], [5, null]);
  assert.deepEqual(columns.values, [1, 2.5]);
  assert.deepEqual(
    columns.steps.map(({ value }) => value),
    ['open', true, null],
  );
});

test('buckets without a number are steps, the others have a band', () => {
  const columns = columnsOfBuckets(
    [
      { timestamp: iso(at(0)), avg: 2, min: 1, max: 3, count: 9, last: 2 },
      { timestamp: iso(at(1)), count: 1, last: 'open' },
    ],
    minute,
  );
  assert.deepEqual([columns.values, columns.lows, columns.highs], [[2], [1], [3]]);
  assert.deepEqual(columns.steps, [{ at: at(1), value: 'open' }]);
});

test('a pause much longer than usual breaks the line, of that sensor alone', () => {
  const broken = points([0, 1], [1, 1], [2, 1], [10, 5], [11, 5]);
  const whole = points(...Array.from({ length: 12 }, (_, index) => [index, index] as const));
  assert.equal(gapMsOf(broken), chartLimits.gapFactor * minute);
  const { seconds, lines } = joinLines([
    { columns: broken, shiftMs: 0 },
    { columns: whole, shiftMs: 0 },
  ]);
  const [first, second] = lines;
  assert.equal(first?.values.filter((cell) => cell === null).length, 1);
  assert.equal(second?.values.filter((cell) => cell === null).length, 0);
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => a - b),
  );
  const breakIndex = first?.values.indexOf(null) ?? -1;
  assert.ok(
    (seconds[breakIndex] ?? 0) * 1000 > at(2) && (seconds[breakIndex] ?? 0) * 1000 < at(10),
  );
});

test('joining keeps every value of every sensor, in order', () => {
  const line = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer()), { maxLength: 60 })
    .map((pairs) => {
      const columns = emptyColumns();
      const sorted = new Map(pairs.toSorted(([a], [b]) => a - b));
      for (const [index, value] of sorted) appendPoint(columns, at(index), value);
      return columns;
    });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (all) => {
      const { seconds, lines } = joinLines(all.map((columns) => ({ columns, shiftMs: 0 })));
      all.forEach((columns, index) => {
        const cells = lines[index]?.values ?? [];
        assert.equal(cells.length, seconds.length);
        assert.deepEqual(
          cells.filter((cell) => typeof cell === 'number'),
          columns.values,
        );
      });
      assert.equal(new Set(seconds).size, seconds.length);
    }),
  );
});

test('the period before is moved onto this one', () => {
  const { seconds } = joinLines([{ columns: points([0, 1]), shiftMs: 5 * minute }]);
  assert.deepEqual(seconds, [at(5) / 1000]);
});

test('live values are appended, put in order when late, and never twice', () => {
  const columns = points([0, 1], [2, 3]);
  appendPoint(columns, at(3), 4);
  appendPoint(columns, at(1), 2);
  appendPoint(columns, at(3), 4);
  assert.deepEqual(columns.values, [1, 2, 3, 4]);
  assert.deepEqual(columns.times, [at(0), at(1), at(2), at(3)]);
});

test('a live value joins the last average, or begins the next', () => {
  const buckets = [{ timestamp: iso(at(0)), avg: 10, min: 8, max: 12, count: 3 }];
  const columns = columnsOfBuckets(buckets, minute);
  appendPoint(columns, at(0) + 30_000, 18);
  assert.deepEqual([columns.values, columns.lows, columns.highs], [[12], [8], [18]]);
  appendPoint(columns, at(2) + 1, 5);
  assert.deepEqual(columns.times, [at(0), at(2)]);
  appendPoint(columns, at(1), 5);
  assert.equal(columns.times.length, 2);
});

test('live columns have an end', () => {
  const columns = emptyColumns();
  for (let index = 0; index < chartLimits.livePointsMax * 1.2; index += 1) {
    appendPoint(columns, at(index), index);
    appendPoint(columns, at(index), `text ${index}`);
  }
  assert.ok(columns.times.length <= chartLimits.livePointsMax);
  assert.ok(columns.steps.length <= chartLimits.stepsMax);
  assert.equal(columns.values.length, columns.times.length);
});

test('a device that begins to send more often has no gaps in the time before', () => {
  const slow = Array.from({ length: 20 }, (_, index) => [index * 10, index] as const);
  const quick = Array.from({ length: 60 }, (_, index) => [190 + index / 3, 20] as const);
  const changed = points(...slow, ...quick.slice(1));
  const breaks = (columns: typeof changed): number =>
    joinLines([{ columns, shiftMs: 0 }]).lines[0]?.values.filter((cell) => cell === null).length ??
    0;
  assert.equal(breaks(changed), 0);
  assert.equal(breaks(points(...slow.toSpliced(5, 6), ...quick.slice(1))), 1);
  assert.deepEqual(readingAt(changed, at(54)), { at: at(50), value: 5 });
});

test('the cursor reads the nearest value, and nothing in a gap', () => {
  const columns = points([0, 1], [1, 2], [2, 3], [20, 4], [21, 5]);
  assert.equal(readingAt(columns, at(1) + 20_000)?.value, 2);
  assert.equal(readingAt(columns, at(1) + 40_000)?.value, 3);
  assert.equal(readingAt(columns, at(10)), undefined);
  assert.equal(readingAt(columns, at(100)), undefined);
  assert.equal(readingAt(points([0, 'open'], [5, 'shut']), at(4))?.value, 'open');
  assert.equal(readingAt(emptyColumns(), at(0)), undefined);
});

test('the keyboard moves from value to value and stops at the ends', () => {
  const instants = instantsOf([points([0, 1], [2, 1]), points([1, 1], [2, 1])]);
  assert.deepEqual(instants, [at(0), at(1), at(2)]);
  assert.equal(movedCursor(instants, undefined, -1), at(2));
  assert.equal(movedCursor(instants, at(1), 1), at(2));
  assert.equal(movedCursor(instants, at(2), 1), at(2));
  assert.equal(movedCursor(instants, at(2), 'first'), at(0));
  assert.equal(movedCursor([], undefined, 1), undefined);
});

test('an alert line is always in sight, and bars stand on 0', () => {
  const [low, high] = scaleEnds(10, 20, [35]);
  assert.ok(low < 10 && high > 35);
  assert.deepEqual(scaleEnds(null, null, []), [0, 1]);
  assert.deepEqual(scaleEnds(5, 5, []), [4.5, 5.5]);
  // The average of long numbers is a rounded one.
  const [bottom, top] = scaleEnds(840380235174088800, 840380235174089000, []);
  assert.ok(bottom < 8e17 && top > 9e17);
  assert.deepEqual(barEnds(2, 10), [0, 11]);
  assert.deepEqual(barEnds(null, null), [0, 1]);
});

test('finds the first time that is not before', () => {
  assert.equal(firstAtOrAfter([1, 3, 5], 3), 1);
  assert.equal(firstAtOrAfter([1, 3, 5], 4), 2);
  assert.equal(firstAtOrAfter([1, 3, 5], 9), 3);
  assert.equal(firstAtOrAfter([], 9), 0);
});

test('the time axis names each day once, and clock times between', () => {
  const at12 = [0, 12, 24, 36].map((hour) => new Date(2026, 0, 1, hour).getTime() / 1000);
  assert.deepEqual(timeLabels(at12, 7 * 86_400_000, { language: 'en' }), [
    'Jan 1',
    '12:00',
    'Jan 2',
    '12:00',
  ]);
  assert.deepEqual(timeLabels(at12.slice(0, 2), 86_400_000, { language: 'en' }), [
    '00:00\nJan 1',
    '12:00',
  ]);
  assert.deepEqual(timeLabels(at12.slice(0, 1), 365 * 86_400_000, { language: 'en' }), [
    'Jan 2026',
  ]);
});

test('one outlier does not flatten a day, and what is usual is never left out', () => {
  const day = Array.from({ length: 288 }, (_, index) => 20 + Math.sin(index / 20));
  const [low, high] = usualEnds([...day, 850]) ?? [];
  assert.deepEqual([low, high], [Math.min(...day), Math.max(...day)]);
  assert.deepEqual(usualEnds([...day, 850, -40]), [low, high]);
  // A hot hour of twelve readings is no outlier, nor is a step, nor a peak that leaves room.
  const hot = [...day, ...Array.from({ length: 12 }, () => 60)];
  assert.equal(usualEnds(hot)?.[1], 60);
  const step = [...day, ...day.map((value) => value + 500)];
  assert.deepEqual(usualEnds(step), [Math.min(...day), Math.max(...day) + 500]);
  assert.equal(usualEnds([...day, 24])?.[1], 24);
  // Nothing is usual among few, and beside what never changes everything shows.
  assert.deepEqual(usualEnds([1, 2, 900]), [1, 900]);
  assert.deepEqual(usualEnds([...day.map(() => 5), 0]), [0, 5]);
  assert.equal(usualEnds([]), undefined);
});

test('a finger near a peak means the peak, and elsewhere what is nearest', () => {
  const line = (values: readonly number[]) =>
    values.map((value, index) => ({ index: index + 7, low: value, high: value }));
  assert.equal(outstandingIndex([line([20, 20.1, 26, 20, 19.9])], 10), 9);
  assert.equal(outstandingIndex([line([20, 20.1, 20.2, 20.1, 20])], 10), undefined);
  // Of several lines the one that stands out most; averages by their lowest and highest.
  const averaged = [{ index: 3, low: 2, high: 9 }, ...line([4, 4])];
  assert.equal(outstandingIndex([line([20, 21]), averaged], 10), 3);
  assert.equal(outstandingIndex([[]], 10), undefined);
});

test('beside a plot that carries the times of texts alone stand no numbers', () => {
  const ink = '#000';
  const palette: Palette = {
    ink,
    quiet: ink,
    line: ink,
    alert: ink,
    textPx: 13,
    series: () => ink,
  };
  const common = { isThinned: false, isBars: false, hasTimes: true, isNarrow: true, palette };
  const look: PlotLook = { ...common, lines: [], firings: [], zone: 'UTC', language: 'en' };
  const values = plotOptions(look).axes?.[1]?.values;
  assert.ok(typeof values === 'function');
  assert.deepEqual(Reflect.apply(values, undefined, [undefined, [0]]), []);
});
