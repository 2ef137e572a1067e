import type { Instant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { limits } from '../limits.ts';
import type { AggregationPlan } from './aggregation.ts';
import { wholeStep } from './bucket-page.ts';
import { readColumnSteps, readDatapoints, type StepBudget } from './column-steps.ts';
import { type CounterReads, counterParts, growthBefore } from './counter-parts.ts';
import { orderTime } from './datapoint.ts';
import { calibratedColumns } from './datapoint-columns.ts';
import type { DatapointStore, Page, SummarisedStep, SummariseOptions } from './datapoint-store.ts';
import type { Growth } from './growth.ts';
import { type HistoryQuery, pageOf, storeFor } from './history.ts';
import type { Source } from './sensor-selection.ts';
import { calibratedRun, mayStandFor } from './standing.ts';
import { isStretchRun, type SummarisedPart } from './stretches.ts';

export interface SourceRead {
  readonly datapoints: DatapointStore;
  readonly source: Source;
  readonly page: Page;
  readonly query: HistoryQuery;
  readonly pace: Pace;
  readonly room: StepBudget;
}

/** Summarises a page, in stretches where the store knows them. */
export async function* summarised({
  mayStand,
  ...read
}: SourceRead & Pick<SummariseOptions, 'mayStand'>): AsyncGenerator<SummarisedPart, undefined> {
  const { datapoints, query, pace, room } = read;
  const { ref, sensor } = read.source;
  const calibration = query.isCalibrated ? sensor.calibration : undefined;
  const options = { ...room, mayStand };
  for (let page: Page | undefined = read.page; page !== undefined; ) {
    const step: SummarisedStep = await datapoints.summarise(ref, page, options);
    for (const part of step.parts) {
      yield isStretchRun(part)
        ? calibratedRun(part, calibration)
        : calibratedColumns(part, calibration);
    }
    page = step.next;
    if (pace.isOver()) await pace.rest();
  }
}

/** Processes the parts of one sensor; `growth` is there where increase is asked for. */
type Work<Step> = (
  parts: AsyncIterable<SummarisedPart>,
  growth?: Growth,
) => AsyncGenerator<Step, undefined>;

/** Work on what the datapoints of one sensor come to, from the beginning of the range. */
export function createReader(options: {
  readonly stores: {
    readonly datapoints: DatapointStore;
    readonly pushedDatapoints: DatapointStore;
  };
  readonly query: HistoryQuery;
  readonly plan: AggregationPlan;
  readonly pace: Pace;
}) {
  const { stores, query, plan, pace } = options;
  const datapoints = storeFor(stores, query);
  const all = { ...query, order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY } as const;

  /** The datapoints of the range, oldest first: all of them, or the newest so many. */
  const chosen = async ({ ref }: Source): Promise<Page> =>
    pageOf(all, query.lastN === undefined ? 0 : await datapoints.count(ref, query));

  async function* pageParts(source: Source, room: StepBudget, known?: Page) {
    const page = known ?? (await chosen(source));
    const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
    const mayStand = mayStandFor(plan, calibration);
    yield* summarised({ datapoints, source, page, query, pace, room, mayStand });
    return undefined;
  }

  async function* grown<Step>(source: Source, room: StepBudget, work: Work<Step>) {
    const page = await chosen(source);
    const reads = {
      page: () => pageParts(source, room, page),
      ...(await readsAround({ datapoints, source, query, pace, room, page })),
    };
    const growth = await growthBefore(reads);
    yield* work(counterParts(reads, growth), growth);
    return undefined;
  }

  return <Step>(
    { source, room }: { readonly source: Source; readonly room: StepBudget },
    work: Work<Step>,
  ): AsyncGenerator<Step, undefined> =>
    plan.aggregates.includes('increase')
      ? grown(source, room, work)
      : work(pageParts(source, room));
}

/** Plan of one bucket for everything: stretches suffice wherever their growth is known. */
const growthPlan = {
  aggregates: ['increase'],
  bucketOf: () => ({ start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }),
} as const;

/** Datapoints of a step that searches for one number. */
const roomForOne: StepBudget = { ...wholeStep, rowsMax: limits.mergedDatapointsPerStepMin };

/** Reads of a counter besides the page itself. */
async function readsAround(read: SourceRead): Promise<Omit<CounterReads, 'page'>> {
  const { datapoints, source, query, pace } = read;
  const { from, to, ...newest } = read.page;
  const open = { ...newest, skip: 0, limit: Number.POSITIVE_INFINITY };
  const calibration = query.isCalibrated ? source.sensor.calibration : undefined;
  const parts = (page: Page, room = read.room) =>
    summarised({ ...read, page, room, mayStand: mayStandFor(growthPlan, calibration) });
  const { time, skip } = query.lastN === undefined ? { time: from, skip: 0 } : await beginOf(read);

  async function* before(begin: Instant, ms: number): AsyncGenerator<SummarisedPart> {
    const bounded = Number.isFinite(ms) ? { ...open, from: begin - ms } : open;
    yield* parts({ ...bounded, to: begin - 1 });
    if (skip > 0) yield* parts({ ...open, from: begin, to: begin, limit: skip });
  }

  return {
    ...(time !== undefined && { before: (ms: number) => before(time, ms) }),
    ...(to !== undefined && { after: () => parts({ ...open, from: to + 1 }, roomForOne) }),
    rows: (start, end) =>
      readColumnSteps({
        ...{ datapoints, ref: source.ref, calibration, pace, room: read.room },
        page: { ...open, from: start, to: end },
      }),
  };
}

/** The time of the first datapoint of a page, and how many of that time are before the page. */
async function beginOf({
  datapoints,
  source: { ref },
  page,
}: SourceRead): Promise<{ readonly time?: Instant; readonly skip: number }> {
  const [first] = await readDatapoints(datapoints, ref, {
    ...page,
    limit: Math.min(1, page.limit),
  });
  if (first === undefined) return { skip: 0 };
  const time = orderTime(first);
  const fromThen = await datapoints.count(ref, { ...page, from: time });
  return { time, skip: Math.max(0, fromThen - page.limit) };
}
