import { type Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { BudgetUsage } from '../domain/budgets/budgets.ts';
import type { Metric, MetricSource, MqttMetrics, ThreadMemory } from '../domain/metrics.ts';
import type { Reporter } from '../domain/reporter.ts';
import { addBudgetMetrics } from './budget-metrics.ts';
import { addEventLoopMetrics } from './event-loop-metrics.ts';
import type { SeriesHistogram } from './histogram.ts';
import { addMemoryMetrics } from './memory-metrics.ts';
import { createMeters, type Meters } from './meters.ts';
import { addMqttMetrics } from './mqtt-metrics.ts';
import { addRenewalMetrics } from './renewal-metrics.ts';
import { addRetentionMetrics } from './retention-metrics.ts';
import { addStorageMetrics, type StorageMetrics } from './storage-metrics.ts';

/** Everything the service measures about itself, and the text a Prometheus server reads. */
export interface Metrics {
  /** By method, route and status. */
  readonly requests: SeriesHistogram;
  readonly refusals: Counter<'code'>;
  readonly logins: Counter<'outcome'>;
  readonly datapointsStored: Counter;
  readonly datapointsRepeated: Counter;
  readonly commits: SeriesHistogram;
  readonly commitsFailed: Counter;
  readonly deliveries: Counter<'channel' | 'outcome'>;
  readonly firings: Counter<'outcome'>;
  readonly rowsSetAside: Counter<'table'>;
  readonly chunksRenewed: Reporter['chunksRenewed'];
  readonly retention: Pick<Reporter, 'retentionStepped' | 'retentionRoundEnded'>;
  readonly publishesRefused: Counter<'reason'>;
  readonly connectionsRefused: Counter<'reason'>;
  /** Adds what the MQTT broker counts. */
  watchMqtt(read: () => MqttMetrics): void;
  /** Adds what is stored. */
  watchStorage(read: () => StorageMetrics): void;
  /** Adds by how much the service's clock is ahead of the machine's, which is behind. */
  watchClock(readAheadMs: () => number): void;
  /** Adds what is used of the budgets. */
  watchBudgets(read: () => readonly BudgetUsage[]): void;
  /** Adds where the memory is, with that of the thread that writes. */
  watchMemory(readStorageThread: () => Promise<ThreadMemory | undefined>): void;
  /** All metrics as plain metrics. */
  readonly source: MetricSource;
  /** All metrics in the Prometheus text format. */
  metricsText(): Promise<string>;
}

/** The format of `metricsText`; for the Content-Type of its answer. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** Fresh metrics in a registry of their own, with those of the process and of Node. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const meters = createMeters(registry);
  let watchesProcess = false;
  addEventLoopMetrics(meters);

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
    ...createCounts(meters),
    chunksRenewed: addRenewalMetrics(meters),
    retention: addRetentionMetrics(meters),
    watchMqtt: (read) => addMqttMetrics(meters, read),
    watchStorage: (read) => addStorageMetrics(meters, read),
    watchClock(readAheadMs) {
      const help = "By how much the machine's clock is behind what was stored; 0: it is not.";
      const seconds = () => [[readAheadMs() / 1_000]] as const;
      meters.watched('gauge', 'kipimo_clock_behind_seconds', { help }, seconds);
    },
    watchBudgets: (read) => addBudgetMetrics(meters, read),
    watchMemory: (read) => addMemoryMetrics(meters, read),
    source: {
      names: () => registry.getMetricsAsArray().map(({ name }) => name),
      async read() {
        watchProcess();
        const metrics = await registry.getMetricsAsJSON();
        return metrics.map(({ name, values }) => ({ name, values: values.map(plainValue) }));
      },
    },
    metricsText: () => {
      watchProcess();
      return registry.metrics();
    },
  };
}

/** Metrics that the service counts itself. */
const createCounts = ({ counter, histogram }: Meters) => ({
  requests: histogram(
    'kipimo_request_duration_seconds',
    'HTTP requests by method, route pattern and status, and how long they took.',
    // Few: they are multiplied by routes and statuses.
    { labels: ['method', 'route', 'status'], buckets: [0.002, 0.01, 0.05, 0.25, 1, 5] },
  ),
  refusals: counter('kipimo_refusals_total', 'Requests that were refused, by error code.', 'code'),
  logins: counter('kipimo_logins_total', 'Logins by outcome: succeeded or failed.', 'outcome'),
  datapointsStored: counter('kipimo_datapoints_stored_total', 'Datapoints made durable.'),
  datapointsRepeated: counter(
    'kipimo_datapoints_repeated_total',
    'Datapoints that were pushed again and stored once.',
  ),
  commits: histogram(
    'kipimo_commit_duration_seconds',
    'Commits of datapoints and how long they took, sync to disk included.',
    { buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2] },
  ),
  commitsFailed: counter(
    'kipimo_commits_failed_total',
    'Commits of datapoints that failed; nothing of them was kept.',
  ),
  publishesRefused: counter(
    'kipimo_mqtt_publishes_refused_total',
    'MQTT messages that were acknowledged and dropped, or not taken: by reason.',
    'reason',
  ),
  connectionsRefused: counter(
    'kipimo_mqtt_connections_refused_total',
    'MQTT clients that were not let in, by reason.',
    'reason',
  ),
  deliveries: counter(
    'kipimo_deliveries_total',
    'Tries to deliver a message, by channel and outcome: sent, retry or failed.',
    'channel',
    'outcome',
  ),
  firings: counter(
    'kipimo_firings_total',
    'Notifications whose condition held in a free window, by what became of the firing.',
    'outcome',
  ),
  rowsSetAside: counter(
    'kipimo_rows_set_aside_total',
    'Stored rows that cannot be understood since the start, by table; the log names them.',
    'table',
  ),
});

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
