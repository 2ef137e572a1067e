import type { Reporter } from '../domain/reporter.ts';
import type { HistogramSeries } from './histogram.ts';
import type { Metrics } from './metrics.ts';

/**
 * Pairs of route, method and status that are counted apart, each of nine lines; the rest counts as
 * route "other". An installation uses a few dozen.
 */
const seriesMax = 250;

/** A Reporter that counts into `metrics`. */
export function createMetricsReporter(metrics: Metrics): Reporter {
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
    chunksRenewed: metrics.chunksRenewed,
    ...metrics.retention,
    publishRefused: (reason) => metrics.publishesRefused.inc({ reason }),
    connectionRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
  };
}

function createRequestObserver(requests: Metrics['requests']): Reporter['requestAnswered'] {
  // Runs once per request: three map look-ups by values that are already at hand instead of one
  // by a text that must be built.
  const byRoute = new Map<string, Map<string, Map<number, HistogramSeries>>>();
  let seriesCount = 0;

  function open(method: string, route: string, status: number): HistogramSeries {
    if (seriesCount >= seriesMax) return requests.labels('other', 'other', String(status));
    seriesCount += 1;
    const series = requests.labels(method, route, String(status));
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, HistogramSeries>>();
    const byStatus = byMethod.get(method) ?? new Map<number, HistogramSeries>();
    byRoute.set(route, byMethod.set(method, byStatus.set(status, series)));
    return series;
  }

  return ({ method, route, status, durationMs }) => {
    const known = byRoute.get(route)?.get(method)?.get(status);
    (known ?? open(method, route, status)).observe(durationMs / 1_000);
  };
}
