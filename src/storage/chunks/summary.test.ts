import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Columns, toColumns } from './columns.ts';
import { decodeSummary, encodeSummary, summarise } from './summary.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

const block = (values: readonly number[], stepMs: number, from = start): Columns =>
  toColumns(
    values.map((value, at) => {
      const timestamp = from + at * stepMs;
      return { value, timestamp, receivedAt: timestamp };
    }),
  );

const evenly = (count: number, stepMs: number, from = start): Columns =>
  block(
    Array.from({ length: count }, (_, at) => (at * 7) % 10),
    stepMs,
    from,
  );

test('a stretch is an hour, a part of a day or all of a block, whichever holds many', () => {
  const grains = [0.5, 1, 2, 5, 10, 15, 60].map((minutes) => {
    const { grain, stretches } = summarise(evenly(1_024, minutes * 60_000));
    return [minutes, grain, stretches.count];
  });
  assert.deepEqual(grains, [
    [0.5, 1, 9],
    [1, 1, 18],
    [2, 6, 6],
    [5, 6, 15],
    [10, 12, 15],
    [15, 24, 11],
    [60, 0, 1],
  ]);
});

test('stretches are what their datapoints come to, also after they were written', () => {
  const some = fc.record({
    values: fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 1, maxLength: 700 }),
    stepMs: fc.integer({ min: 1, max: hour }),
    from: fc.integer({ min: start, max: start + 30 * hour }),
  });
  fc.assert(
    fc.property(some, ({ values, stepMs, from }) => {
      const columns = block(values, stepMs, from);
      const summary = summarise(columns);
      const { stretches, grain } = summary;
      let row = 0;
      for (let at = 0; at < stretches.count; at += 1) {
        const [begin = 0, end = 0] = [stretches.starts[at], stretches.ends[at]];
        const own = values.filter((_, of) => {
          const time = from + of * stepMs;
          return time >= begin && time <= end;
        });
        assert.equal(stretches.counts[at], own.length);
        assert.deepEqual(own, values.slice(row, row + own.length));
        assert.equal(
          stretches.sum[at],
          own.reduce((sum, value) => sum + value, 0),
        );
        assert.deepEqual([stretches.first[at], stretches.last[at]], [own[0], own.at(-1)]);
        const length = grain * hour;
        if (grain > 0) assert.equal(Math.floor(begin / length), Math.floor(end / length));
        row += own.length;
      }
      assert.equal(row, values.length);
      const read = decodeSummary(encodeSummary([summary]));
      assert.deepEqual([read.stretches, [...read.grains]], [stretches, [grain]]);
    }),
    { numRuns: 200 },
  );
});

/** Three hours of 40 datapoints, and 30 that are two hours apart. */
const ofVersion1 =
  'AYVCGowCBAHwAbMBAAEGAwAAAAGAoNXt7maA6N0NAAAAAeDP8PfuZqDc0soBAAAAAaD2OwIBBAA8BKoKBAAAAAAAAQAA' +
  'AAAAAAAAEgAAAACOAgZt2wIAAAAAAAAAAAYAAAAAfgW1VgAAAAQAAAAAAAA=';

test('a summary of version 1, which does not say how long stretches are, is read', () => {
  const blocks = [evenly(120, 90_000), evenly(30, 2 * hour, start + 4 * hour)];
  const read = decodeSummary(Buffer.from(ofVersion1, 'base64'));
  assert.deepEqual([...read.grains], [1, 0]);
  assert.deepEqual(read, decodeSummary(encodeSummary(blocks.map((one) => summarise(one)))));
});
