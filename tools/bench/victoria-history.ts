import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { historyLimits } from './history-limits.ts';
import { queriedKind, type SeriesValue } from './history-series.ts';
import {
  crowdKind,
  type HistoryQuery,
  type HistorySpan,
  type HistoryStore,
} from './history-store.ts';
import { installed, startPeer } from './peer-process.ts';

/** VictoriaMetrics with its data in `directory`; undefined: not installed. It has no texts. */
export async function startVictoriaHistory(directory: string): Promise<HistoryStore | undefined> {
  const program = installed('victoria-metrics');
  if (program === undefined) return undefined;
  const port = await freePort();
  const data = join(directory, 'victoria');
  mkdirSync(data);
  const url = `http://127.0.0.1:${port}`;
  const { stop } = await startPeer({
    program,
    words: [
      `-storageDataPath=${data}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=20y',
      '-search.maxPointsPerTimeseries=1000000',
      '-search.maxQueryDuration=5m',
      '-loggerLevel=ERROR',
    ],
    directory,
    healthUrl: `${url}/health`,
  });
  return {
    name: 'VictoriaMetrics',
    port,
    directory: data,
    takes: (kind) => !kind.startsWith('texts'),
    pushOf(kind, series, points) {
      const metric = { __name__: kind, s: `s${series}` };
      const values = points.map(({ value }) => numberOf(value));
      const timestamps = points.map(({ timestamp }) => timestamp);
      return {
        method: 'POST',
        path: '/api/v1/import',
        body: JSON.stringify({ metric, values, timestamps }),
      };
    },
    queryOf: (query, span) => ({ method: 'GET', path: pathOf(query, span) }),
    async settle() {
      const response = await fetch(`${url}/internal/force_flush`);
      await response.body?.cancel();
    },
    [Symbol.asyncDispose]: stop,
  };
}

const numberOf = (value: SeriesValue): number => Number(value);

const exportCsv = '/api/v1/export/csv?format=__name__,s,__timestamp__:rfc3339,__value__';

function pathOf(query: HistoryQuery, { from, to, rangeTo }: HistorySpan): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(3);
  const averages = (kind: string, window: string): string =>
    `/api/v1/query_range?nocache=1&query=avg_over_time(${kind}[${window}])&step=${window}` +
    `&start=${seconds(from)}&end=${seconds(to)}`;
  const exported = (start: number, end: number): string =>
    `match[]=${queriedKind}&start=${seconds(start)}&end=${seconds(end)}`;
  const lastFrom = to - historyLimits.lastPoints * historyLimits.stepMs;
  const paths: Readonly<Record<HistoryQuery, string>> = {
    yearByDay: averages(queriedKind, '1d'),
    yearByHour: averages(queriedKind, '1h'),
    rangeJson: `/api/v1/export?${exported(from, rangeTo)}`,
    yearCsv: `${exportCsv}&${exported(from, to)}`,
    manyByDay: averages(crowdKind, '1d'),
    last1: `/api/v1/query?nocache=1&query=last_over_time(${queriedKind}[1d])&time=${seconds(to)}`,
    last1000: `/api/v1/export?${exported(lastFrom, to)}`,
  };
  return paths[query];
}
