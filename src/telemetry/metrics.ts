import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { BudgetUsage } from '../domain/budgets/budgets.ts';
import type { Metric, MetricSource, MqttMetrics } from '../domain/metrics.ts';
import { addBudgetMetrics } from './budget-metrics.ts';
import { addEventLoopMetrics } from './event-loop-metrics.ts';
import { addMqttMetrics, createMqttRefusals } from './mqtt-metrics.ts';
import { addStorageMetrics, type StorageMetrics } from './storage-metrics.ts';

/** Everything the service measures about itself, and the text a Prometheus server reads. */
export interface Metrics {
  readonly requests: Histogram<'method' | 'route' | 'status'>;
  readonly refusals: Counter<'code'>;
  readonly logins: Counter<'outcome'>;
  readonly datapointsStored: Counter;
  readonly datapointsRepeated: Counter;
  readonly commits: Histogram;
  readonly commitsFailed: Counter;
  readonly deliveries: Counter<'channel' | 'outcome'>;
  readonly firings: Counter<'outcome'>;
  readonly rowsSetAside: Counter<'table'>;
  readonly publishesRefused: Counter<'reason'>;
  readonly connectionsRefused: Counter<'reason'>;
  /** Adds what the MQTT broker counts. */
  watchMqtt(read: () => MqttMetrics): void;
  /** Adds what is stored. */
  watchStorage(read: () => StorageMetrics): void;
  /** Adds what is used of the budgets. */
  watchBudgets(read: () => readonly BudgetUsage[]): void;
  /** All metrics as plain metrics. */
  readonly source: MetricSource;
  /** All metrics in the Prometheus text format. */
  metricsText(): Promise<string>;
}

/** What `metricsText` is; for the Content-Type of its answer. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** Fresh metrics in a registry of their own, with those of the process and of Node. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let watchesProcess = false;
  addEventLoopMetrics(registry);

  /** Watching the process costs timers and memory: only where somebody reads the metrics. */
  function watchProcess(): void {
    if (watchesProcess) return;
    watchesProcess = true;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  }

  return {
    requests: new Histogram({
      name: 'kipimo_request_duration_seconds',
      help: 'HTTP requests by method, route pattern and status, and how long they took.',
      labelNames: ['method', 'route', 'status'],
      // Few: they are multiplied by routes and statuses.
      buckets: [0.002, 0.01, 0.05, 0.25, 1, 5],
      registers,
    }),
    refusals: new Counter({
      name: 'kipimo_refusals_total',
      help: 'Requests that were refused, by error code.',
      labelNames: ['code'],
      registers,
    }),
    logins: new Counter({
      name: 'kipimo_logins_total',
      help: 'Logins by outcome: succeeded or failed.',
      labelNames: ['outcome'],
      registers,
    }),
    datapointsStored: new Counter({
      name: 'kipimo_datapoints_stored_total',
      help: 'Datapoints made durable.',
      registers,
    }),
    datapointsRepeated: new Counter({
      name: 'kipimo_datapoints_repeated_total',
      help: 'Datapoints that were pushed again and stored once.',
      registers,
    }),
    commits: new Histogram({
      name: 'kipimo_commit_duration_seconds',
      help: 'Commits of datapoints and how long they took, sync to disk included.',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
      registers,
    }),
    commitsFailed: new Counter({
      name: 'kipimo_commits_failed_total',
      help: 'Commits of datapoints that failed; nothing of them was kept.',
      registers,
    }),
    ...createMqttRefusals(registers),
    watchMqtt: (read) => addMqttMetrics(registry, read),
    watchStorage: (read) => addStorageMetrics(registry, read),
    watchBudgets: (read) => addBudgetMetrics(registry, read),
    source: {
      names: () => registry.getMetricsAsArray().map(({ name }) => name),
      async read() {
        watchProcess();
        const metrics = await registry.getMetricsAsJSON();
        return metrics.map(({ name, values }) => ({ name, values: values.map(plainValue) }));
      },
    },
    ...createDeliveryMetrics(registers),
    rowsSetAside: createRowsSetAside(registers),
    metricsText: () => {
      watchProcess();
      return registry.metrics();
    },
  };
}

/** A value of a metric; parts of a histogram are told apart by their names. */
function plainValue(part: {
  readonly labels: object;
  readonly value: number;
  readonly metricName?: string;
}): Metric['values'][number] {
  const { labels, value, metricName } = part;
  const named = metricName === undefined ? {} : { part: metricName };
  return { labels: { ...labels, ...named }, value };
}

function createDeliveryMetrics(registers: Registry[]): Pick<Metrics, 'deliveries' | 'firings'> {
  return {
    deliveries: new Counter({
      name: 'kipimo_deliveries_total',
      help: 'Tries to deliver a message, by channel and outcome: sent, retry or failed.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    firings: new Counter({
      name: 'kipimo_firings_total',
      help: 'Notifications whose condition held in a free window, by what became of the firing.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

const createRowsSetAside = (registers: Registry[]): Metrics['rowsSetAside'] =>
  new Counter({
    name: 'kipimo_rows_set_aside_total',
    help: 'Stored rows that cannot be understood since the start, by table; the log names them.',
    labelNames: ['table'],
    registers,
  });
