import type { Metric, Registry } from 'prom-client';

/** Counts of one set of labels. */
export interface HistogramSeries {
  observe(value: number): void;
}

/** A histogram in the registry's text, whose series cost next to nothing to count into. */
export interface SeriesHistogram {
  /** The series with these labels, in the order of the histogram's; it stays the same. */
  labels(...values: readonly string[]): HistogramSeries;
}

interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

/**
 * Adds a histogram to `registry`. That of prom-client looks its labels up, and its bucket by the
 * bound as text, with each observation: 0.35 µs, some 5 % of what a push takes of the main thread.
 */
export function addHistogram(
  registry: Registry,
  {
    name,
    help,
    ...about
  }: {
    readonly name: string;
    readonly help: string;
    /** Upper bounds, included, smallest first. */
    readonly buckets: readonly number[];
    readonly labels: readonly string[];
  },
): SeriesHistogram {
  const { buckets, labels: labelNames } = about;
  const known = new Map<string, Series>();
  const open = (values: readonly string[]): Series => {
    const key = JSON.stringify(values);
    const labels = Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? '']));
    const series = known.get(key) ?? new Series(buckets, labels);
    known.set(key, series);
    return series;
  };
  // Without labels there is one series, from the start.
  if (labelNames.length === 0) open([]);
  const read = () => [...known.values()].flatMap((series) => series.valuesOf(name));
  const metric = {
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: read() }),
    reset: () => known.clear(),
  };
  // A registry asks a metric for no more than its name and its values.
  registry.registerMetric(metric as unknown as Metric);
  return { labels: (...values) => open(values) };
}

class Series implements HistogramSeries {
  readonly #bounds: readonly number[];
  readonly #labels: Readonly<Record<string, string>>;
  /** Counts of each bucket alone; the last is of values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[], labels: Readonly<Record<string, string>>) {
    this.#bounds = bounds;
    this.#labels = labels;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  valuesOf(name: string): readonly Value[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = Array.from(this.#counts, (inBucket, at): Value => {
      count += inBucket;
      const le = this.#bounds[at] ?? '+Inf';
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: this.#sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}
