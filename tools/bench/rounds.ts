import type { Clock } from '../../src/lib/clock.ts';
import { type LoadConnection, openConnections } from './load-connection.ts';
import { runSlice, type SliceFigures, type Traffic } from './load-slice.ts';
import type { MessageCosts } from './processor-time.ts';

/** How long and how often something is measured. */
export interface Pace {
  readonly sliceMs: number;
  /** The first is thrown away: code is compiled and caches are filled in it. */
  readonly rounds: number;
}

/** What every run needs to know. */
export interface BenchRun {
  readonly pace: Pace;
  readonly clock: Clock;
  /** Hears what is measured next. */
  readonly onStage: (stage: string) => void;
  /** Ends the run, with everything it started. */
  readonly signal: AbortSignal;
}

/** One side of a comparison. */
export interface Side {
  readonly port: number;
  readonly traffic: Traffic;
}

/** Medians over the rounds. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Where it was asked for, and the system tells. */
  readonly costs?: MessageCosts;
}

export interface Comparison {
  readonly ours: Figures;
  readonly noOp: Figures;
  /** Median of what each pair of neighbouring slices says, so drift of the machine falls out. */
  readonly ratio: number;
}

interface ComparedSides {
  readonly ours: Side;
  readonly noOp: Side;
  readonly connections: number;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}

/** Measures two servers in alternating slices with the same number of connections. */
export async function compare(options: ComparedSides): Promise<Comparison> {
  const { ours, theirs, ratio } = summarize(await pairsOf(options));
  return { ours, noOp: theirs, ratio };
}

/** The figures of every pair of neighbouring slices of two servers, but for the first. */
export async function pairsOf(options: ComparedSides): Promise<readonly Pair<SliceFigures>[]> {
  const { ours, noOp, connections, pace, signal } = options;
  let rounds: readonly Pair<SliceFigures>[] = [];
  await withConnections({ port: ours.port, count: connections, signal }, (toOurs) =>
    withConnections({ port: noOp.port, count: connections, signal }, async (toNoOp) => {
      rounds = await alternate({
        rounds: pace.rounds,
        ours: () => toOurs(ours.traffic, pace.sliceMs),
        theirs: () => toNoOp(noOp.traffic, pace.sliceMs),
      });
    }),
  );
  return rounds;
}

/** What two servers did in neighbouring slices of time. */
export interface Pair<Slice> {
  readonly ours: Slice;
  readonly theirs: Slice;
}

/** Runs slices of both in turns; the first round is thrown away. */
export async function alternate<Slice>(options: {
  readonly rounds: number;
  readonly ours: () => Promise<Slice>;
  readonly theirs: () => Promise<Slice>;
}): Promise<readonly Pair<Slice>[]> {
  const { rounds, ours, theirs } = options;
  const pairs: Pair<Slice>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Whoever comes first changes, so that neither is always the one that finds a warm machine.
    const [first, second] = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    const [one, other] = [await first(), await second()];
    pairs.push(round % 2 === 0 ? { ours: one, theirs: other } : { ours: other, theirs: one });
  }
  return pairs.slice(1);
}

/** Medians of both, and the median of what each pair says, so drift of the machine falls out. */
export function summarize(pairs: readonly Pair<Figures>[]): Pair<Figures> & {
  readonly ratio: number;
} {
  return {
    ours: mediansOf(pairs.map(({ ours }) => ours)),
    theirs: mediansOf(pairs.map(({ theirs }) => theirs)),
    ratio: median(pairs.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
  };
}

/** Measures one server alone. */
export async function measure(options: {
  readonly side: Side;
  readonly connections: number;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}): Promise<Figures> {
  const { side, connections, pace, signal } = options;
  const slices: SliceFigures[] = [];
  await withConnections({ port: side.port, count: connections, signal }, async (run) => {
    for (let round = 0; round < pace.rounds; round += 1) {
      slices.push(await run(side.traffic, pace.sliceMs));
    }
  });
  return mediansOf(slices.slice(1));
}

type RunSlice = (traffic: Traffic, durationMs: number) => Promise<SliceFigures>;

/** Opens connections for some slices, and closes them behind `work`. */
export async function withConnections<What>(
  to: { readonly port: number; readonly count: number; readonly signal: AbortSignal },
  work: (run: RunSlice) => Promise<What>,
): Promise<What> {
  const broken = new AbortController();
  const signal = AbortSignal.any([to.signal, broken.signal]);
  const onFailure = (error: Error) => broken.abort(error);
  const connections: readonly LoadConnection[] = await openConnections({ ...to, onFailure });
  try {
    return await work(async (traffic, durationMs) => {
      const figures = await runSlice({ connections, traffic, durationMs, signal });
      if (figures.refused === 0) return figures;
      throw new Error(`${figures.refused} answers were wrong; the first: ${figures.refusal}`);
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Metric by figure. */
export const mediansOf = (slices: readonly Figures[]): Figures => {
  const costs = slices.flatMap((slice) => slice.costs ?? []);
  return {
    perSecond: median(slices.map(({ perSecond }) => perSecond)),
    p50Ms: median(slices.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(slices.map(({ p99Ms }) => p99Ms)),
    ...(costs.length > 0 && {
      costs: {
        serverMicros: median(costs.map(({ serverMicros }) => serverMicros)),
        generatorMicros: median(costs.map(({ generatorMicros }) => generatorMicros)),
      },
    }),
  };
};

/**
 * The interval of 95 % in which the median is, by ranks: it assumes nothing of how numbers are
 * spread. Of fewer than ten it is from the lowest to the highest.
 */
export function intervalOfMedian(numbers: readonly number[]): readonly [number, number] {
  const sorted = numbers.toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const low = sorted[Math.max(0, Math.floor(sorted.length / 2 - reach))] ?? Number.NaN;
  const last = Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + reach - 1));
  return [low, sorted[last] ?? Number.NaN];
}

/** The middle one of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? low;
  return (low + high) / 2;
}
