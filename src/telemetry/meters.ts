import { Counter, Gauge, type Registry } from 'prom-client';
import { addHistogram, type SeriesHistogram } from './histogram.ts';

/** A value of a metric, with its labels. */
type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** Makes the metrics of one registry. */
export function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(
      name: string,
      help: string,
      ...labelNames: readonly Label[]
    ): Counter<Label> => new Counter({ name, help, labelNames, registers }),
    histogram: (
      name: string,
      help: string,
      {
        buckets,
        labels = [],
      }: { readonly buckets: readonly number[]; readonly labels?: readonly string[] },
    ): SeriesHistogram => addHistogram(registry, { name, help, buckets, labels }),
    /** A gauge, or a count kept elsewhere since the start, read with the metrics. */
    watched(
      kind: 'gauge' | 'count',
      name: string,
      {
        help,
        labels: labelNames = [],
      }: { readonly help: string; readonly labels?: readonly string[] },
      read: () => readonly Sample[],
    ): void {
      const description = { name, help, labelNames, registers };
      if (kind === 'gauge') {
        new Gauge({
          ...description,
          collect() {
            for (const [value, labels = {}] of read()) this.set(labels, value);
          },
        });
        return;
      }
      new Counter({
        ...description,
        collect() {
          this.reset();
          for (const [value, labels = {}] of read()) this.inc(labels, value);
        },
      });
    },
    /** The same for a gauge whose values have to be waited for. */
    watchedLater(
      name: string,
      { help, labels: labelNames }: { readonly help: string; readonly labels: readonly string[] },
      read: () => Promise<readonly Sample[]>,
    ): void {
      new Gauge({
        ...{ name, help, labelNames, registers },
        async collect() {
          const samples = await read();
          this.reset();
          for (const [value, labels = {}] of samples) this.set(labels, value);
        },
      });
    },
  };
}

/** The makers of metrics of one registry. */
export type Meters = ReturnType<typeof createMeters>;
