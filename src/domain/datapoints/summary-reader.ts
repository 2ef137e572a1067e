import type { Instant } from '../../lib/clock.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { limits } from '../limits.ts';
import type { AggregationPlan } from './aggregation.ts';
import { wholeStep } from './bucket-page.ts';
import { orderTime } from './datapoint.ts';
import { calibratedColumns, type DatapointColumns, numberIn, rowsOf } from './datapoint-columns.ts';
import {
  type DatapointStore,
  type Page,
  readColumnSteps,
  readDatapoints,
  type StepBudget,
  type SummarisedStep,
  type SummariseOptions,
} from './datapoint-store.ts';
import { createGrowth, type Growth, noGrowth } from './growth.ts';
import { type HistoryQuery, pageOf, type ReadParts, storeFor } from './history.ts';
import { dayMs, hourMs } from './retention/retention.ts';
import type { Source } from './sensor-selection.ts';
import { calibratedRun, mayStandFor } from './standing.ts';
import { isStretchRun, type Stretches, type StretchRun, type SummarisedPart } from './stretches.ts';

export interface SourceRead {
  readonly datapoints: DatapointStore;
  readonly source: Source;
  readonly page: Page;
  readonly query: HistoryQuery;
  readonly pace: Pace;
  readonly room: StepBudget;
}

/** Summarises a page, in stretches where the store knows them. */
export async function* summarised(
  given: SourceRead & Pick<SummariseOptions, 'mayStand'>,
): AsyncGenerator<SummarisedPart, undefined> {
  const { mayStand, ...read } = given;
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
  readonly stores: Pick<ReadParts, 'datapoints' | 'pushedDatapoints'>;
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
async function beginOf(
  options: SourceRead,
): Promise<{ readonly time?: Instant; readonly skip: number }> {
  const {
    datapoints,
    source: { ref },
    page,
  } = options;
  const [first] = await readDatapoints(datapoints, ref, {
    ...page,
    limit: Math.min(1, page.limit),
  });
  if (first === undefined) return { skip: 0 };
  const time = orderTime(first);
  const fromThen = await datapoints.count(ref, { ...page, from: time });
  return { time, skip: Math.max(0, fromThen - page.limit) };
}

/** Where the numbers of one counter are read, as they are shown. */
interface CounterReads {
  /** Summarises the datapoints of the range, oldest first. */
  readonly page: () => AsyncIterable<SummarisedPart>;
  /**
   * The same of the datapoints before the range, from so many ms before it on. Absent: the range
   * begins with the first datapoint.
   */
  readonly before?: (ms: number) => AsyncIterable<SummarisedPart>;
  /** The same of those after the range; absent: there are none. */
  readonly after?: () => AsyncIterable<SummarisedPart>;
  /** All datapoints from one instant to another, both included. */
  readonly rows: (from: Instant, to: Instant) => AsyncIterable<DatapointColumns>;
}

/** Most counters have a number that is no glitch in the first of them. */
const looksBack = [hourMs, dayMs, 16 * dayMs, 256 * dayMs, Number.POSITIVE_INFINITY];

/** The growth of a counter before a range: its state when the range begins. */
export async function growthBefore({ before, rows }: CounterReads): Promise<Growth> {
  let growth = createGrowth();
  for (const ms of before === undefined ? [] : looksBack) {
    growth = createGrowth();
    const outside = noGrowth();
    for await (const part of certain(before?.(ms) ?? none(), { growth, rows, next: unknown })) {
      addPart(growth, part, outside);
    }
    if (growth.isSure) break;
  }
  return growth;
}

/**
 * The parts of a range for a reader that follows their growth with `growth`: stretches represent
 * datapoints where their ends are no glitches, whatever is in them. At the end growth knows the
 * number behind them.
 */
export async function* counterParts(
  reads: CounterReads,
  growth: Growth,
): AsyncGenerator<SummarisedPart, undefined> {
  const { page, after, rows } = reads;
  let following: number | undefined;
  const next = async (): Promise<number> => {
    following ??= after === undefined ? Number.NaN : await firstNumber(after());
    return Number.isNaN(following) ? Number.POSITIVE_INFINITY : following;
  };
  yield* certain(page(), { growth, rows, next });
  const number = await next();
  if (Number.isFinite(number)) growth.add(number, noGrowth());
}

async function* none(): AsyncGenerator<SummarisedPart> {
  // Nothing.
}

const unknown = async (): Promise<number> => Number.NaN;

/** The first number of some parts; NaN: there is none. */
async function firstNumber(parts: AsyncIterable<SummarisedPart>): Promise<number> {
  for await (const part of parts) {
    const number = endOf(part, 'first');
    if (!Number.isNaN(number)) return number;
  }
  return Number.NaN;
}

const numbersIn = ({ numbers, textNumbers }: Stretches, at: number): number =>
  (numbers[at] ?? 0) + (textNumbers[at] ?? 0);

/** The first or the last number of a part, or `none` where it has no number. */
function endOf(part: SummarisedPart, end: 'first' | 'last', none = Number.NaN): number {
  const isRun = isStretchRun(part);
  const [from, to] = isRun ? [part.from, part.to] : [0, part.count];
  for (let passed = 0; passed < to - from; passed += 1) {
    const at = end === 'first' ? from + passed : to - 1 - passed;
    if (isRun) {
      if (numbersIn(part.stretches, at) > 0) return part.stretches[end][at] ?? none;
    } else {
      const number = numberIn(part, at);
      if (!Number.isNaN(number)) return number;
    }
  }
  return none;
}

function addPart(growth: Growth, part: SummarisedPart, into: ReturnType<typeof noGrowth>): void {
  if (isStretchRun(part)) {
    for (let at = part.from; at < part.to; at += 1) growth.addStretch(part.stretches, at, into);
    return;
  }
  for (let row = 0; row < part.count; row += 1) {
    const number = numberIn(part, row);
    if (!Number.isNaN(number)) growth.add(number, into);
  }
}

interface Certain {
  readonly growth: Growth;
  readonly rows: CounterReads['rows'];
  /** The number behind all parts; NaN: unknown, infinite: there is none. */
  readonly next: () => Promise<number>;
}

/**
 * The parts with each stretch as datapoints that only goes up, but whose first number is below the
 * one before it, or whose last number is above the one behind it: it may be a glitch.
 */
async function* certain(
  parts: AsyncIterable<SummarisedPart>,
  { growth, rows, next }: Certain,
): AsyncGenerator<SummarisedPart, undefined> {
  let { last } = growth;
  let held: StretchRun | undefined;
  for await (const part of parts) {
    if (held !== undefined) {
      yield* checked(held, { last, next: endOf(part, 'first'), rows });
      last = endOf(held, 'last', last);
      held = undefined;
    }
    if (isStretchRun(part) && part.stretches.edges === undefined) {
      held = part;
    } else {
      yield part;
      last = endOf(part, 'last', last);
    }
  }
  if (held !== undefined) yield* checked(held, { last, next: await next(), rows });
}

/** A run whose neighbours are two numbers; NaN: unknown, or there is none before it. */
async function* checked(
  { stretches, from, to }: StretchRun,
  around: {
    readonly last: number;
    readonly next: number;
    readonly rows: CounterReads['rows'];
  },
): AsyncGenerator<SummarisedPart, undefined> {
  let { last } = around;
  let start = from;
  for (let at = from; at < to; at += 1) {
    const numbers = numbersIn(stretches, at);
    if (numbers === 0) continue;
    const rest = endOf({ stretches, from: at + 1, to }, 'first');
    const following = Number.isNaN(rest) ? around.next : rest;
    const final = stretches.last[at] ?? 0;
    // Of two numbers or fewer all is known.
    if (numbers > 2 && ((stretches.first[at] ?? 0) < last || !(following >= final))) {
      if (at > start) yield { stretches, from: start, to: at };
      yield* rowsOfStretch(stretches, at, around.rows);
      start = at + 1;
    }
    last = final;
  }
  if (to > start) yield { stretches, from: start, to };
}

async function* rowsOfStretch(
  stretches: Stretches,
  at: number,
  rows: CounterReads['rows'],
): AsyncGenerator<SummarisedPart, undefined> {
  const found: DatapointColumns[] = [];
  let count = 0;
  for await (const step of rows(stretches.starts[at] ?? 0, stretches.ends[at] ?? 0)) {
    found.push(step);
    count += step.count;
  }
  // Of the instant at which it begins the stretch before it may have some.
  let passed = count - (stretches.counts[at] ?? 0);
  for (const step of found) {
    const skip = Math.min(step.count, Math.max(0, passed));
    passed -= skip;
    if (skip < step.count) yield rowsOf(step, skip, step.count);
  }
}
