import type { Instant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { inOneStep } from '../../lib/steps.ts';
import type { Actor } from '../actor.ts';
import type { Hold } from '../budgets/long-work.ts';
import { sensorOf } from '../devices/device.ts';
import { noSensor } from '../devices/devices.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import {
  type AggregationPlan,
  aggregate,
  aggregateInto,
  createBucketColumns,
  tally,
} from './aggregation.ts';
import {
  type BucketColumnsPage,
  type BucketPage,
  readBucketColumns,
  readBucketPage,
  readTotals,
  type Totals,
  wholeStep,
} from './bucket-page.ts';
import { type Datapoint, orderTime } from './datapoint.ts';
import { type DatapointColumns, type SensorRows, toDatapointColumns } from './datapoint-columns.ts';
import { readColumnSteps, type StepBudget } from './datapoint-store.ts';
import { createDownsampling } from './downsampling.ts';
import { type HistoryQuery, pageOf, type ReadParts, standsFromOf, storeFor } from './history.ts';
import { createColumnMerge, mergedRows } from './merged-history.ts';
import { hoursPerStep } from './retention/hours.ts';
import { hourMs } from './retention/retention.ts';
import {
  bytesOfSources,
  createSourceOpening,
  requireViewable,
  type SensorSelection,
  type Source,
  viewableDevice,
} from './sensor-selection.ts';
import { calibratedRun } from './standing.ts';
import type { Stretches } from './stretches.ts';
import { createReader, type SourceRead, summarised } from './summary-reader.ts';

/** Summaries of datapoints of some sensors, for those who may view the data of their devices. */
export interface Summaries {
  /**
   * Puts the datapoints of each sensor into buckets. The range and lastN of the query say which
   * datapoints, the rest of it which page of the buckets of all sensors is answered; a limit of
   * Infinity wants all. At the same time buckets come in the order in which sensors are named.
   */
  aggregate: Summarise<AggregationPlan, BucketPage>;
  /** All buckets of the one sensor of a selection; the plan asks for numbers. */
  aggregateOne: Summarise<AggregationPlan, BucketColumnsPage>;
  /** The same in one bucket for all sensors together; the page is one of these buckets. */
  totals: Summarise<AggregationPlan, Totals>;
  /**
   * Downsamples the page of each sensor to at most `pointsMax` datapoints, merged in the order of
   * the page; `total` are in the range. Where retention took datapoints, the least and the greatest
   * number of each hour are shown at its beginning, unless the page ends after so many.
   */
  downsample: Summarise<number, Downsampled>;
}

/** Devices that were found may go meanwhile: the others are summed up again, so often at most. */
const triesMax = 3;

type Summarise<How, Summary> = (
  actor: Actor,
  selection: SensorSelection,
  query: HistoryQuery,
  how: How,
) => Promise<Summary & Standing>;

interface Downsampled extends Omit<BucketPage, 'buckets'> {
  /** In steps of bounded size. */
  readonly steps: readonly (readonly SensorRows[])[];
  readonly count: number;
}

/** From when datapoints are kept; undefined: retention took none of the range. */
interface Standing {
  readonly standsFrom: Instant | undefined;
}

/** Below it, peaks lie in nearly every block of a store, and reading all is quicker. */
const datapointsPerPointMin = 4_096;

export function createSummaries(options: ReadParts): Summaries {
  const { longWork } = options;
  const open = createSourceOpening(options);

  async function downsampleOne(
    { source, query, pace }: Pick<SourceRead, 'source' | 'query' | 'pace'>,
    pointsMax: number,
  ) {
    const datapoints = storeFor(options, query);
    const total = await datapoints.count(source.ref, query);
    const page = pageOf(query, total);
    const { ref } = source;
    const stands = await datapoints.standsFrom([ref], page);
    const hours = await readHourEnds({ datapoints, source, page, query, pace });
    const count = Math.min(page.limit, Math.max(0, total - page.skip)) + hours.count;
    const downsampling = createDownsampling({ count, pointsMax });
    const read: SourceRead = { datapoints, source, page, query, pace, room: wholeStep };
    const isLong = count / pointsMax >= datapointsPerPointMin;
    const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
    // Stretches come oldest first, and hours of which retention took the datapoints are read above.
    if (isLong && page.order === 'asc' && stands === undefined) {
      const mayStand = downsampling.mayStandFor(calibration);
      for await (const part of summarised({ ...read, mayStand })) downsampling.add(part);
    } else {
      if (page.order === 'asc') downsampling.add(hours);
      for await (const step of scan(read)) downsampling.add(step);
      if (page.order === 'desc') downsampling.add(hours);
    }
    const found = await downsampling.finish(async function* (range) {
      if (pace.isOver()) await pace.rest();
      yield* scan({ ...read, page: { ...range, order: 'asc', skip: 0, limit: Infinity } });
    });
    return { ...found, total };
  }

  /** Work on the sensors of a selection, in slices from the search for them on. */
  const onSources = <Result>(
    actor: Actor,
    { selection, query }: { readonly selection: SensorSelection; readonly query: HistoryQuery },
    work: (on: {
      readonly sources: readonly Source[];
      readonly pace: Pace;
      readonly hold: Hold;
    }) => Promise<Result>,
  ): Promise<Result & Standing> =>
    longWork.run(actor, async (pace, hold) => {
      for (let tries = 1; ; tries += 1) {
        const sources = await open(actor, selection, pace, hold);
        const bytes = bytesOfSources(sources);
        const result = await work({ sources, pace, hold: (more) => hold(bytes + more) });
        const refs = sources.map(({ ref }) => ref);
        const isPassedOver = selection.areFound === true && tries < triesMax;
        let areThere = true;
        for (const [id, some] of Map.groupBy(refs, ({ deviceId }) => deviceId)) {
          const device = await (isPassedOver ? viewableDevice : requireViewable)(
            options,
            actor,
            id,
          );
          const gone = some.find(({ sensorId }) => !device || !sensorOf(device, sensorId));
          if (gone !== undefined && !isPassedOver) throw noSensor(id, gone.sensorId);
          areThere &&= gone === undefined;
          if (pace.isOver()) await pace.rest();
        }
        if (!areThere) continue;
        const standsFrom = await standsFromOf(storeFor(options, query), refs, query, pace);
        return { ...result, standsFrom };
      }
    });

  return {
    aggregate: (actor, selection, query, plan) =>
      onSources(actor, { selection, query }, ({ sources, pace, hold }) => {
        const on = createReader({ stores: options, query, plan, pace });
        const read = (source: Source, room: StepBudget) =>
          on({ source, room }, (parts, growth) => aggregate(parts, plan, growth));
        return readBucketPage({ sources, read, page: query, pace, hold });
      }),
    aggregateOne: (actor, selection, query, plan) =>
      onSources(actor, { selection, query }, ({ sources, pace, hold }) => {
        const columns = createBucketColumns(plan);
        const on = createReader({ stores: options, query, plan, pace });
        const steps = on({ source: onlyOne(sources), room: wholeStep }, (parts, growth) =>
          aggregateInto(columns, parts, { plan, growth }),
        );
        return readBucketColumns({ columns, steps, order: query.order, hold });
      }),
    totals: (actor, selection, query, plan) =>
      onSources(actor, { selection, query }, ({ sources, pace, hold }) => {
        const on = createReader({ stores: options, query, plan, pace });
        const read = (source: Source) =>
          on({ source, room: wholeStep }, (parts, growth) =>
            tally({ parts, plan, growth }, (one) => one),
          );
        return readTotals({ sources, read, plan, page: query, pace, hold });
      }),
    downsample: (actor, selection, query, pointsMax) =>
      onSources(actor, { selection, query }, async ({ sources, pace, hold }) => {
        refuseTooManyPoints(sources.length, pointsMax);
        const merge = createColumnMerge(query.order);
        const sign = query.order === 'asc' ? 1 : -1;
        let [count, skipped, total] = [0, 0, 0];
        for (const source of sources) {
          if (pace.isOver()) await pace.rest();
          hold(limits.summaryItemBytes * (count + pointsMax));
          const one = await downsampleOne({ source, query, pace }, pointsMax);
          // Points of one sensor are nearly in order.
          const sorted = one.datapoints.toSorted((a, b) => sign * (orderTime(a) - orderTime(b)));
          await merge.add(inOneStep(toDatapointColumns(sorted)));
          count += one.datapoints.length;
          skipped += one.skipped;
          total += one.total;
        }
        const page = { skip: 0, limit: count };
        const merged = mergedRows({ merge: async () => merge, sources, page, pace });
        const keptBytes = limits.summaryItemBytes * count;
        return { steps: await Array.fromAsync(merged), count, skipped, total, keptBytes };
      }),
  };
}

function onlyOne([source, ...others]: readonly Source[]): Source {
  if (source === undefined || others.length > 0) throw new Error('one sensor is to be read');
  return source;
}

function refuseTooManyPoints(sensors: number, pointsMax: number): void {
  if (sensors * pointsMax <= limits.downsampledAnswerMax) return;
  throw invalid(
    `${sensors} sensors of ${pointsMax} points are more than ${limits.downsampledAnswerMax}: ` +
      'ask for fewer points',
  );
}

/** The columns of a page as they are shown. A summary of years is long work. */
const scan = ({
  source: { ref, sensor },
  query,
  ...options
}: SourceRead): AsyncIterable<DatapointColumns> =>
  readColumnSteps({
    ...{ ...options, ref, calibration: query.isCalibrated ? sensor.calibration : undefined },
  });

/**
 * For plots: the least and the greatest number of each hour of which retention took the datapoints,
 * at its beginning, in the order of the page. None for a page that ends after so many datapoints.
 */
async function readHourEnds(options: Omit<SourceRead, 'room'>): Promise<DatapointColumns> {
  const { datapoints, source, page, query, pace } = options;
  const ends: Datapoint[] = [];
  const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
  const isWhole = page.skip === 0 && page.limit === Number.POSITIVE_INFINITY;
  const stands = isWhole ? await datapoints.standsFrom([source.ref], page) : undefined;
  const to = Math.min(page.to ?? Number.POSITIVE_INFINITY, (stands ?? 0) - 1);
  for (let from = page.from ?? Number.NEGATIVE_INFINITY; stands !== undefined && from <= to; ) {
    const hours = await datapoints.hours(source.ref, { from, to }, hoursPerStep);
    const { stretches } = calibratedRun(
      { stretches: hours, from: 0, to: hours.count },
      calibration,
    );
    for (let at = 0; at < hours.count; at += 1) ends.push(...endsOf(stretches, at));
    if (hours.count < hoursPerStep) break;
    from = (hours.starts[hours.count - 1] ?? 0) + hourMs;
    if (pace.isOver()) await pace.rest();
  }
  if (page.order === 'desc') ends.reverse();
  return toDatapointColumns(ends);
}

function endsOf(hours: Stretches, at: number): readonly Datapoint[] {
  if ((hours.numbers[at] ?? 0) + (hours.textNumbers[at] ?? 0) === 0) return [];
  const [min, max] = [hours.min[at] ?? 0, hours.max[at] ?? 0];
  const begin: Instant = hours.starts[at] ?? 0;
  const values = min === max ? [min] : [min, max];
  if ((hours.first[at] ?? 0) > (hours.last[at] ?? 0)) values.reverse();
  return values.map((value) => ({ value, timestamp: begin, receivedAt: begin }));
}
