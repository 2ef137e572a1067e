import { mkdirSync, writeFileSync } from 'node:fs';
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

/** InfluxDB 1 with its data in `directory`, each write synced; undefined: not installed. */
export async function startInfluxHistory(directory: string): Promise<HistoryStore | undefined> {
  const program = installed('influxd');
  if (program === undefined) return undefined;
  const [port, rpcPort] = [await freePort(), await freePort()];
  const data = join(directory, 'influx');
  mkdirSync(data);
  const file = join(directory, 'influxdb.conf');
  writeFileSync(file, settings(data, port, rpcPort));
  const url = `http://127.0.0.1:${port}`;
  const { stop } = await startPeer({
    program,
    words: ['run', '-config', file],
    directory,
    healthUrl: `${url}/ping`,
  });
  const made = await fetch(`${url}/query?q=${encodeURIComponent('create database history')}`, {
    method: 'POST',
  });
  if (made.status !== 200) throw new Error(await made.text());
  return {
    name: 'InfluxDB 1',
    port,
    directory: data,
    takes: () => true,
    pushOf: (kind, series, points) => ({
      method: 'POST',
      path: '/write?db=history&precision=ms',
      body: points
        .map(({ timestamp, value }) => `${kind},s=s${series} v=${fieldOf(value)} ${timestamp}`)
        .join('\n'),
    }),
    queryOf: (query, span) => ({
      method: 'GET',
      path: `/query?db=history&epoch=ms&q=${encodeURIComponent(statementOf(query, span))}`,
      headers: { accept: query === 'yearCsv' ? 'application/csv' : 'application/json' },
    }),
    settle: async () => undefined,
    [Symbol.asyncDispose]: stop,
  };
}

const fieldOf = (value: SeriesValue): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

const settings = (data: string, port: number, rpcPort: number): string => `
reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
  dir = "${data}/meta"
[data]
  dir = "${data}/data"
  wal-dir = "${data}/wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
[logging]
  level = "error"
[monitor]
  store-enabled = false
`;

function statementOf(query: HistoryQuery, { from, to, rangeTo }: HistorySpan): string {
  const within = (end: number): string => `where time >= ${from}ms and time <= ${end}ms`;
  const averages = (kind: string, window: string, by = ''): string =>
    `select mean(v) from ${kind} ${within(to)} group by time(${window})${by}`;
  const statements: Readonly<Record<HistoryQuery, string>> = {
    yearByDay: averages(queriedKind, '1d'),
    yearByHour: averages(queriedKind, '1h'),
    rangeJson: `select v from ${queriedKind} ${within(rangeTo)}`,
    yearCsv: `select v from ${queriedKind} ${within(to)}`,
    manyByDay: averages(crowdKind, '1d', ', s'),
    last1: `select v from ${queriedKind} order by time desc limit 1`,
    last1000: `select v from ${queriedKind} order by time desc limit ${historyLimits.lastPoints}`,
  };
  return statements[query];
}
