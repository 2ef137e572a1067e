import fc from 'fast-check';
import type { Datapoint } from '../../../src/domain/datapoints/datapoint.ts';
import type { Page } from '../../../src/domain/datapoints/datapoint-store.ts';
import { noon } from './builders.ts';

/** Under these nearly every datapoint is flushed, merged, cut and trimmed at once. */
export const tinyDatapointLimits = {
  chunkDatapointsMax: 4,
  chunkWeightMax: 32,
  chunkBlocksMax: 2,
  memtableEntryBytes: 0,
  memtableEntryBytesMax: 3 * 32,
  packedBytesMax: 2 * 32,
  calmMs: 0,
  memtableBytesMax: 6 * 32,
  logBytesMax: 8 * 32,
  flushBytesPerStep: 5 * 32,
  flushSeriesPerStep: 2,
  trimRowsPerStep: 2,
  decodedChunksMax: 2,
  seriesMax: 2,
};

const secondMs = 1_000;

/** Datapoints of half a minute that arrive late, some of a device without a clock. */
export const datapointOf = (value: fc.Arbitrary<Datapoint['value']>): fc.Arbitrary<Datapoint> =>
  fc
    .record({
      second: fc.nat({ max: 30 }),
      value,
      isTimed: fc.boolean(),
      delay: fc.nat({ max: 3 }),
    })
    .map(({ second, value, isTimed, delay }) => {
      const receivedAt = noon + (second + delay) * secondMs;
      return isTimed
        ? { value, timestamp: noon + second * secondMs, receivedAt }
        : { value, receivedAt };
    });

const moment = fc.option(
  fc.nat({ max: 33 }).map((second) => noon + second * secondMs),
  { nil: undefined },
);

/** Any page of what such datapoints are. */
export const somePage: fc.Arbitrary<Page> = fc
  .record({
    order: fc.constantFrom('asc', 'desc'),
    skip: fc.nat({ max: 12 }),
    limit: fc.nat({ max: 20 }),
    from: moment,
    to: moment,
  })
  .map(({ from, to, ...rest }) => ({
    ...rest,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }));
