import { join } from 'node:path';
import { benchLogin, startBenchService } from './bench-service.ts';
import { historyLimits } from './history-limits.ts';
import { queriedKind, seriesKinds } from './history-series.ts';
import {
  crowdKind,
  type HistoryQuery,
  type HistorySpan,
  type HistoryStore,
} from './history-store.ts';
import { openBenchClient } from './population.ts';

const api = '/api/v2';
const device = 'history';
const buckets = 'limit=100000';

/** A fresh Kipimo with a sensor for each kind, and a device for the crowd. */
export async function startKipimoHistory(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<HistoryStore> {
  const service = await startBenchService(directory, { mqttPort: 0, environment });
  const { token } = await openBenchClient(service.url, benchLogin);
  const authorization = `Bearer ${token}`;
  const crowd = Array.from({ length: historyLimits.crowdSensors }, (_, n) => ({ id: `s${n}` }));
  const kinds = seriesKinds.flatMap(({ name }) => [{ id: name }, { id: `${name}_live` }]);
  for (const message of [
    { id: device, visibility: 'private', sensors: kinds },
    { id: crowdKind, visibility: 'private', sensors: crowd },
  ]) {
    const response = await fetch(`${service.url}${api}/devices`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
    if (response.status !== 204) throw new Error(await response.text());
  }
  return {
    name: 'Kipimo',
    port: service.port,
    directory: join(directory, 'data'),
    takes: () => true,
    pushOf(kind, series, points) {
      const [device_id, sensor_id] =
        kind === crowdKind ? [crowdKind, `s${series}`] : [device, kind];
      const [only] = points;
      if (points.length === 1 && only !== undefined) {
        const { value } = only;
        const timestamp = new Date(only.timestamp).toISOString();
        return {
          method: 'POST',
          path: `${api}/devices/${device_id}/sensors/${sensor_id}/value`,
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ value, timestamp }),
        };
      }
      const lines = points.map(({ timestamp, value }) =>
        JSON.stringify({
          ...{ device_id, sensor_id, value },
          timestamp: new Date(timestamp).toISOString(),
        }),
      );
      return {
        method: 'POST',
        path: `${api}/sensors_data`,
        headers: { authorization, 'content-type': 'application/x-ndjson' },
        body: lines.join('\n'),
      };
    },
    queryOf: (query, span) => ({
      method: 'GET',
      path: `${api}${pathOf(query, span)}`,
      headers: { authorization },
    }),
    settle: async () => undefined,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

function pathOf(query: HistoryQuery, span: HistorySpan): string {
  const values = `/devices/${device}/sensors/${queriedKind}/values`;
  const from = `dateFrom=${new Date(span.from).toISOString()}`;
  const to = `dateTo=${new Date(span.rangeTo).toISOString()}`;
  const paths: Readonly<Record<HistoryQuery, string>> = {
    yearByDay: `${values}?aggregate=avg&interval=1d&${buckets}`,
    yearByHour: `${values}?aggregate=avg&interval=1h&${buckets}`,
    rangeJson: `${values}?${from}&${to}&limit=${historyLimits.rangePoints}`,
    yearCsv: `${values}?format=csv&limit=1000000`,
    manyByDay: `/sensors_data?device_id=${crowdKind}&aggregate=avg&interval=1d&${buckets}`,
    last1: `${values}?lastN=1`,
    last1000: `${values}?lastN=1000&limit=1000`,
  };
  return paths[query];
}
