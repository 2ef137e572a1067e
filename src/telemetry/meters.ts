import { Counter, Gauge, type Registry } from 'prom-client';
import { addHistogram, type SeriesHistogram } from './histogram.ts';

/** A value of a metric, with its labels. */
type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** Makes the metrics of one registry. */
export interface Meters {
  counter<Label extends string = never>(
    name: string,
    help: string,
    ...labels: readonly Label[]
  ): Counter<Label>;
  histogram(
    name: string,
    help: string,
    options: { readonly buckets: readonly number[]; readonly labels?: readonly string[] },
  ): SeriesHistogram;
  /** A gauge, or a count kept elsewhere since the start, read with the metrics. */
  watched(
    kind: 'gauge' | 'count',
    name: string,
    about: { readonly help: string; readonly labels?: readonly string[] },
    read: () => readonly Sample[],
  ): void;
  /** The same for a gauge whose values have to be waited for. */
  watchedLater(
    name: string,
    about: { readonly help: string; readonly labels: readonly string[] },
    read: () => Promise<readonly Sample[]>,
  ): void;
}

export function createMeters(registry: Registry): Meters {
  const registers = [registry];
  return {
    counter: (name, help, ...labelNames) => new Counter({ name, help, labelNames, registers }),
    histogram: (name, help, { buckets, labels = [] }) =>
      addHistogram(registry, { name, help, buckets, labels }),
    watched(kind, name, { help, labels: labelNames = [] }, read) {
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
    watchedLater(name, { help, labels: labelNames }, read) {
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
