import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { Reporter } from '../domain/reporter.ts';

/**
 * Pairs of route, method and status that are counted apart, each of nine lines; the rest counts as
 * route "other". An installation uses a few dozen.
 */
const seriesMax = 250;

/** A Reporter that counts into metrics. */
export function createMetricsReporter(meters: Meters): Reporter {
  const metrics = createCounts(meters);
  const observeRequest = createRequestObserver(metrics.requests);
  const commits = metrics.commits.labels();
  const refusals = new Map<string, { inc(): void }>();
  const succeeded = metrics.logins.labels('succeeded');
  const failed = metrics.logins.labels('failed');
  return {
    requestAnswered: observeRequest,
    requestRefused(code) {
      let counter = refusals.get(code);
      if (counter === undefined) {
        counter = metrics.refusals.labels(code);
        refusals.set(code, counter);
      }
      counter.inc();
    },
    loginSucceeded: () => succeeded.inc(),
    loginFailed: () => failed.inc(),
    commitFinished({ datapoints, durationMs }) {
      metrics.datapointsStored.inc(datapoints);
      commits.observe(durationMs / 1_000);
    },
    commitFailed: () => metrics.commitsFailed.inc(),
    datapointsRepeated: (count) => metrics.datapointsRepeated.inc(count),
    deliveryTried: (channel, outcome) => metrics.deliveries.labels(channel, outcome).inc(),
    notificationFired: (outcome) => metrics.firings.labels(outcome).inc(),
    rowSetAside: (table) => metrics.rowsSetAside.inc({ table }),
    chunksRenewed: addRenewalMetrics(meters),
    ...addRetentionMetrics(meters),
    publishRefused: (reason) => metrics.publishesRefused.inc({ reason }),
    connectionRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
  };
}

function createRequestObserver(
  requests: ReturnType<typeof addHistogram>,
): Reporter['requestAnswered'] {
  // Runs once per request: three map look-ups by values that are already at hand instead of one
  // by a text that must be built.
  const byRoute = new Map<string, Map<string, Map<number, Series>>>();
  let seriesCount = 0;

  function open(method: string, route: string, status: number): Series {
    if (seriesCount >= seriesMax) return requests.labels('other', 'other', String(status));
    seriesCount += 1;
    const series = requests.labels(method, route, String(status));
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Series>>();
    const byStatus = byMethod.get(method) ?? new Map<number, Series>();
    byRoute.set(route, byMethod.set(method, byStatus.set(status, series)));
    return series;
  }

  return ({ method, route, status, durationMs }) => {
    const known = byRoute.get(route)?.get(method)?.get(status);
    (known ?? open(method, route, status)).observe(durationMs / 1_000);
  };
}

/** Metrics that the service counts itself. */
const createCounts = ({ counter, histogram }: Meters) => ({
  requests: histogram({
    name: 'kipimo_request_duration_seconds',
    help: 'HTTP requests by method, route pattern and status, and how long they took.',
    labels: ['method', 'route', 'status'],
    // Few: they are multiplied by routes and statuses.
    buckets: [0.002, 0.01, 0.05, 0.25, 1, 5],
  }),
  refusals: counter('kipimo_refusals_total', 'Requests that were refused, by error code.', 'code'),
  logins: counter('kipimo_logins_total', 'Logins by outcome: succeeded or failed.', 'outcome'),
  datapointsStored: counter('kipimo_datapoints_stored_total', 'Datapoints made durable.'),
  datapointsRepeated: counter(
    'kipimo_datapoints_repeated_total',
    'Datapoints that were pushed again and stored once.',
  ),
  commits: histogram({
    name: 'kipimo_commit_duration_seconds',
    help: 'Commits of datapoints and how long they took, sync to disk included.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
  }),
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

const renewalCounters = {
  replaced: [
    'kipimo_chunks_renewed_total',
    'Chunks of datapoints that were written anew in the background since the start.',
  ],
} as const;

const renewalGauges = {
  left: [
    'kipimo_chunks_to_look_at',
    'Chunks of datapoints that the walk in the background has not looked at yet.',
  ],
  unreadable: [
    'kipimo_chunks_unreadable',
    'Chunks of datapoints that the walk in the background could not read, and left.',
  ],
} as const;

/** Adds how far writing chunks anew in the background is; answers what to call with its figures. */
function addRenewalMetrics({ watchedFields }: Meters): Reporter['chunksRenewed'] {
  let latest = { replaced: 0, left: 0, unreadable: 0 };
  watchedFields('count', renewalCounters, () => latest);
  watchedFields('gauge', renewalGauges, () => latest);
  return (figures) => {
    latest = figures;
  };
}

/** Adds what retention deleted and kept, and when it last went through all sensors. */
function addRetentionMetrics({
  counter,
  watched,
}: Meters): Pick<Reporter, 'retentionStepped' | 'retentionRoundEnded'> {
  const datapoints = counter(
    'kipimo_retention_datapoints_deleted_total',
    'Datapoints that retention deleted since the start.',
  );
  const hours = counter(
    'kipimo_retention_hourly_values_deleted_total',
    'Hourly values that retention deleted since the start: they were older than theirs.',
  );
  const kept = counter(
    'kipimo_retention_hourly_values_kept_total',
    'Hourly values that were kept since the start, for the datapoints deleted.',
  );
  let lastRound: number | undefined;
  watched(
    'gauge',
    'kipimo_retention_last_round_timestamp_seconds',
    { help: 'When retention last went through all sensors, in seconds since 1970; none: 0.' },
    () => [[lastRound ?? 0]],
  );
  return {
    retentionStepped(step) {
      datapoints.inc(step.datapoints);
      hours.inc(step.hours);
      kept.inc(step.hoursKept);
    },
    retentionRoundEnded(at) {
      lastRound = at / 1_000;
    },
  };
}

interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

/**
 * Adds a histogram in the text of `registry`, whose series cost next to nothing to count into. That
 * of prom-client looks its labels up, and its bucket by the
 * bound as text, with each observation: 0.35 µs, some 5 % of what a push takes of the main thread.
 */
function addHistogram(
  registry: Registry,
  options: {
    readonly name: string;
    readonly help: string;
    /** Upper bounds, included, smallest first. */
    readonly buckets: readonly number[];
    readonly labels?: readonly string[];
  },
) {
  const { name, help, buckets, labels: labelNames = [] } = options;
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
  /** The series with these labels, in the order of the histogram's; it stays the same. */
  return { labels: (...values: readonly string[]) => open(values) };
}

/** Counts of one set of labels. */
class Series {
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

/** A value of a metric, with its labels. */
type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

interface MetricAbout {
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Makes the metrics of one registry. */
export function createMeters(registry: Registry) {
  const registers = [registry];

  /** A gauge, or a count kept elsewhere since the start, waited for with the metrics. */
  function watchedLater(
    kind: 'gauge' | 'count',
    name: string,
    options: MetricAbout,
    read: () => Promise<readonly Sample[]>,
  ): void {
    const { help, labels: labelNames = [] } = options;
    async function collect(this: Gauge | Counter): Promise<void> {
      const samples = await read();
      this.reset();
      for (const [value, labels = {}] of samples) this.inc(labels, value);
    }
    const description = { name, help, labelNames, registers, collect };
    if (kind === 'gauge') new Gauge(description);
    else new Counter(description);
  }

  /** The same of what is at hand. */
  const watched = (
    kind: 'gauge' | 'count',
    name: string,
    options: MetricAbout,
    read: () => readonly Sample[],
  ): void => watchedLater(kind, name, options, async () => read());

  return {
    counter: <Label extends string = never>(
      name: string,
      help: string,
      ...labelNames: readonly Label[]
    ): Counter<Label> => new Counter({ name, help, labelNames, registers }),
    histogram: (options: Parameters<typeof addHistogram>[1]) => addHistogram(registry, options),
    watched,
    watchedLater,
    /** Each field as one metric of this name and help. */
    watchedFields<Field extends string>(
      kind: 'gauge' | 'count',
      table: Readonly<Record<Field, readonly [string, string]>>,
      read: () => Readonly<Record<NoInfer<Field>, number>>,
    ): void {
      for (const [field, [name, help]] of Object.entries(table) as [Field, [string, string]][]) {
        watched(kind, name, { help }, () => [[read()[field]]]);
      }
    },
  };
}

/** The makers of metrics of one registry. */
export type Meters = ReturnType<typeof createMeters>;
