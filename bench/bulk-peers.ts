// How fast a history is stored in each shape that a body may have, beside InfluxDB 1, which gets
// the same lines of its protocol, with every request synced:
// node bench/bulk-peers.ts [--rounds 12] [--only a part of a shape's name]
import { parseArgs } from 'node:util';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import { historyLimits } from '../tools/bench/history-limits.ts';
import { pointsOf, type SeriesPoint, seriesKinds } from '../tools/bench/history-series.ts';
import { createHistoryClient, type HistoryRequest } from '../tools/bench/history-store.ts';
import { startInfluxHistory } from '../tools/bench/influx-history.ts';
import { openBenchClient } from '../tools/bench/population.ts';
import { median } from '../tools/bench/rounds.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';
import { table } from '../tools/table.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
  },
});

using directory = temporaryDirectory();
await using service = await startBenchService(directory.path, { mqttPort: 0 });
await using influx = await startInfluxHistory(directory.path);
if (influx === undefined) throw new Error('install the package influxdb');
const { token } = await openBenchClient(service.url, benchLogin);
const client = createHistoryClient(new AbortController().signal);
const ours = { name: 'Kipimo', port: service.port };

function requestTo(path: string, type: string, body: string): HistoryRequest {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  return { method: 'POST', path, headers, body };
}

/** Sensors that each shape has for itself, one for each kind of values. */
const rows = (device_id: string, kind: string, points: readonly SeriesPoint[]) =>
  points.map(({ timestamp, value }) => {
    const row = { device_id, sensor_id: kind, value, timestamp: new Date(timestamp).toISOString() };
    return JSON.stringify(row);
  });
const valuesOf = (points: readonly SeriesPoint[]) =>
  points.map(({ timestamp, value }) => ({ value, timestamp: new Date(timestamp).toISOString() }));

type Shape = (kind: string, points: readonly SeriesPoint[]) => HistoryRequest;

const shapes: Readonly<Record<string, Shape>> = {
  'lines of JSON to /sensors_data': (kind, points) =>
    requestTo(
      '/api/v2/sensors_data',
      'application/x-ndjson',
      rows('lines', kind, points).join('\n'),
    ),
  'an array to /sensors_data': (kind, points) => {
    const body = `[${rows('array', kind, points).join(',')}]`;
    return requestTo('/api/v2/sensors_data', 'application/json', body);
  },
  'an array to a sensor': (kind, points) => {
    const path = `/api/v2/devices/sensor/sensors/${kind}/values`;
    return requestTo(path, 'application/json', JSON.stringify(valuesOf(points)));
  },
  'line protocol to /write': (kind, points) => {
    const { path, body = '' } = influx.pushOf(kind, 0, points);
    return requestTo(path, 'text/plain', body);
  },
};
const tried = Object.entries(shapes).filter(([name]) => name.includes(values.only));

for (const id of ['lines', 'array', 'sensor']) {
  const sensors = seriesKinds.map(({ name }) => ({ id: name }));
  const body = JSON.stringify({ id, visibility: 'private', sensors });
  await client.send(ours, requestTo('/api/v2/devices', 'application/json', body));
}

const series = seriesKinds.map((kind, seed) => ({
  kind: kind.name,
  points: pointsOf(kind, { from: Date.UTC(2024, 0, 1), stepMs: historyLimits.stepMs, seed }),
}));
const { pointsPerRequest: length, requestsInFlight } = historyLimits;
const contestants: readonly { name: string; store: typeof ours; shape: Shape; ms: number[] }[] = [
  ...tried.map(([name, shape]) => ({ name, store: ours, shape, ms: [] })),
  {
    name: 'InfluxDB 1',
    store: influx,
    shape: (kind, points) => influx.pushOf(kind, 0, points),
    ms: [],
  },
];
let sent = 0;
for (let round = 0; round <= Number(values.rounds); round += 1) {
  const took = contestants.map(() => 0);
  for (const { kind, points } of series) {
    const batches = Array.from({ length: requestsInFlight }, () =>
      Array.from({ length }, () => points.next().value),
    );
    for (let turn = 0; turn < contestants.length; turn += 1) {
      // Whoever comes first changes with every round.
      const at = (turn + round) % contestants.length;
      const { store, shape } = contestants[at] as (typeof contestants)[number];
      const requests = batches.map((batch) => shape(kind, batch));
      const startedAt = performance.now();
      await Promise.all(requests.map((request) => client.send(store, request)));
      took[at] = (took[at] ?? 0) + performance.now() - startedAt;
    }
  }
  // The first round finds code that is not compiled.
  if (round > 0) for (const [at, ms] of took.entries()) contestants[at]?.ms.push(ms);
  sent = series.length * requestsInFlight * length;
}
const theirs = contestants.at(-1)?.ms ?? [];
const lines = contestants.map(({ name, ms }) => {
  const ratio = median(ms.map((one, at) => (theirs[at] ?? Number.NaN) / one));
  return [
    name,
    `${Math.round((sent / median(ms)) * 1_000).toLocaleString('en')}/s`,
    ratio.toFixed(2),
  ];
});
process.stdout.write(`${table([['datapoints', 'median', 'of InfluxDB'], ...lines])}\n`);
client.close();
