import { type LoadConnection, openConnections } from './load-connection.ts';
import { runSlice, type SliceFigures, type Traffic } from './load-slice.ts';

/** How long and how often something is measured. */
export interface Pace {
  readonly sliceMs: number;
  /** The first is thrown away: code is compiled and caches are filled in it. */
  readonly rounds: number;
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
}

export interface Comparison {
  readonly ours: Figures;
  readonly noOp: Figures;
  /** Median of what each pair of neighbouring slices says, so drift of the machine falls out. */
  readonly ratio: number;
}

/** Measures two servers in alternating slices with the same number of connections. */
export async function compare(options: {
  readonly ours: Side;
  readonly noOp: Side;
  readonly connections: number;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}): Promise<Comparison> {
  const { ours, noOp, connections, pace, signal } = options;
  const pairs: { readonly ours: SliceFigures; readonly noOp: SliceFigures }[] = [];
  await withConnections({ port: ours.port, count: connections, signal }, (toOurs) =>
    withConnections({ port: noOp.port, count: connections, signal }, async (toNoOp) => {
      const runOurs = () => toOurs(ours.traffic, pace.sliceMs);
      const runNoOp = () => toNoOp(noOp.traffic, pace.sliceMs);
      for (let round = 0; round < pace.rounds; round += 1) {
        // Whoever comes first changes, so that neither is always the one that finds a warm machine.
        const [first, second] = round % 2 === 0 ? [runOurs, runNoOp] : [runNoOp, runOurs];
        const [one, other] = [await first(), await second()];
        pairs.push(round % 2 === 0 ? { ours: one, noOp: other } : { ours: other, noOp: one });
      }
    }),
  );
  const kept = pairs.slice(1);
  return {
    ours: mediansOf(kept.map((pair) => pair.ours)),
    noOp: mediansOf(kept.map((pair) => pair.noOp)),
    ratio: median(kept.map((pair) => pair.ours.perSecond / pair.noOp.perSecond)),
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

async function withConnections(
  to: { readonly port: number; readonly count: number; readonly signal: AbortSignal },
  work: (run: RunSlice) => Promise<void>,
): Promise<void> {
  const broken = new AbortController();
  const signal = AbortSignal.any([to.signal, broken.signal]);
  const onFailure = (error: Error) => broken.abort(error);
  const connections: readonly LoadConnection[] = await openConnections({ ...to, onFailure });
  try {
    await work(async (traffic, durationMs) => {
      const figures = await runSlice({ connections, traffic, durationMs, signal });
      if (figures.refused === 0) return figures;
      throw new Error(`${figures.refused} answers were wrong; the first: ${figures.refusal}`);
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

const mediansOf = (slices: readonly SliceFigures[]): Figures => ({
  perSecond: median(slices.map(({ perSecond }) => perSecond)),
  p50Ms: median(slices.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(slices.map(({ p99Ms }) => p99Ms)),
});

/** The middle one of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? low;
  return (low + high) / 2;
}
