import { collectDefaultMetrics, Registry } from 'prom-client';
import type { BudgetUsage } from '../domain/budgets/budgets.ts';
import type { MemberFigures } from '../domain/members/member-store.ts';
import type { Metric, MqttMetrics, ThreadMemory } from '../domain/metrics.ts';
import { addMemoryMetrics } from './memory-metrics.ts';
import { createMeters, createMetricsReporter } from './reporter.ts';
import {
  addBudgetMetrics,
  addEventLoopMetrics,
  addMemberMetrics,
  addMqttMetrics,
  addStorageMetrics,
  type StorageMetrics,
} from './watched-metrics.ts';

/** The format of `metricsText`; for the Content-Type of its answer. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** Fresh metrics in a registry of their own, with those of the process and of Node. */
export function createMetrics() {
  const registry = new Registry();
  const meters = createMeters(registry);
  let watchesProcess = false;

  /** Watching the process costs timers and memory: only where the metrics are read. */
  function watchProcess(): void {
    if (watchesProcess) return;
    watchesProcess = true;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
    // Gauges that bear the name of a counter; those without _total say the same by type.
    for (const kind of ['handles', 'requests', 'resources']) {
      registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  return {
    /** Counts what the service reports. */
    reporter: createMetricsReporter(meters),
    /** Adds how long the event loop is held from now on: the start is over. */
    watchEventLoop: (): void => addEventLoopMetrics(meters),
    /** Adds what the MQTT broker counts. */
    watchMqtt: (read: () => MqttMetrics): void => addMqttMetrics(meters, read),
    /** Adds what is stored. */
    watchStorage: (read: () => StorageMetrics): void => addStorageMetrics(meters, read),
    /** Adds by how much the service's clock is ahead of the machine's, which is behind. */
    watchClock(readAheadMs: () => number): void {
      const help = "By how much the machine's clock is behind what was stored; 0: it is not.";
      const seconds = () => [[readAheadMs() / 1_000]] as const;
      meters.watched('gauge', 'kipimo_clock_behind_seconds', { help }, seconds);
    },
    /** Adds what this process shares with others on one database. */
    watchMembers: (read: () => MemberFigures): void => addMemberMetrics(meters, read),
    /** Adds what is used of the budgets. */
    watchBudgets: (read: () => readonly BudgetUsage[]): void => addBudgetMetrics(meters, read),
    /** Adds where the memory is, with that of the thread that writes. */
    watchMemory: (read: () => Promise<ThreadMemory | undefined>): void =>
      addMemoryMetrics(meters, read),
    /** All metrics as plain metrics. */
    source: {
      names: () => registry.getMetricsAsArray().map(({ name }) => name),
      async read() {
        watchProcess();
        const metrics = await registry.getMetricsAsJSON();
        return metrics.map(({ name, values }) => ({ name, values: values.map(plainValue) }));
      },
    },
    /** All metrics in the Prometheus text format. */
    metricsText: (): Promise<string> => {
      watchProcess();
      return registry.metrics();
    },
  };
}

/** Everything the service measures about itself, and the text a Prometheus server reads. */
export type Metrics = ReturnType<typeof createMetrics>;

/** A value of a metric; parts of a histogram differ by their names. */
function plainValue(part: {
  readonly labels: object;
  readonly value: number;
  readonly metricName?: string;
}): Metric['values'][number] {
  const { labels, value, metricName } = part;
  const named = metricName === undefined ? {} : { part: metricName };
  return { labels: { ...labels, ...named }, value };
}
