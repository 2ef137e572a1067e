import { setTimeout as delay } from 'node:timers/promises';
import { createApiClient } from '../client/api-client.ts';
import { deviceIds, sensorIds, sensorPaths } from './traffic.ts';

/** What a service acknowledged, and what it has. */
export interface StoredFigures {
  readonly acknowledged: number;
  readonly stored: number;
  /** Sensors on which the two differ. */
  readonly sensorsThatDiffer: number;
}

/** Asks what is stored of the pushes that were acknowledged, by sensor. */
export async function compareStored(
  client: BenchClient,
  acknowledged: Uint32Array,
): Promise<StoredFigures> {
  const stored = await client.countStored();
  const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);
  return {
    acknowledged: sum(acknowledged),
    stored: sum(stored),
    sensorsThatDiffer: stored.filter((count, at) => count !== acknowledged[at]).length,
  };
}

/** Whether every acknowledged value is stored. */
export function areAllStored({ acknowledged, stored, sensorsThatDiffer }: StoredFigures): boolean {
  return acknowledged > 0 && acknowledged === stored && sensorsThatDiffer === 0;
}

/** The same as a sentence; `what` was acknowledged. */
export function storedText(figures: StoredFigures, what = ''): string {
  const { acknowledged, stored, sensorsThatDiffer } = figures;
  const verdict = areAllStored(figures) ? 'all are there' : `${sensorsThatDiffer} sensors differ`;
  return (
    `${acknowledged.toLocaleString('en')}${what} acknowledged, ` +
    `${stored.toLocaleString('en')} stored: ${verdict}`
  );
}

/** What the benchmark asks of a service outside of the measured slices. */
export interface BenchClient {
  readonly token: string;
  /** Makes the devices of the benchmark. */
  createPopulation(): Promise<void>;
  /** One of those devices as the service answers it. */
  readDevice(): Promise<string>;
  /** How many values each of `sensorPaths` has. */
  countStored(): Promise<readonly number[]>;
  /** Resident memory of the service; undefined where it does not tell. */
  residentBytes(): Promise<number | undefined>;
}

/** Logs in as the admin of a fresh service. */
export async function openBenchClient(
  url: string,
  login: { readonly username: string; readonly password: string },
): Promise<BenchClient> {
  const { signal } = new AbortController();
  const client = createApiClient({ url, signal, wait: (pauseMs) => delay(pauseMs) });
  const json = login;
  const token = await client.need({ method: 'POST', path: '/auth/token', json }, 200);
  client.authorize(token.text);
  const get = (path: string) => client.need({ method: 'GET', path }, 200);
  return {
    token: token.text,
    async createPopulation() {
      for (const id of deviceIds) {
        await client.need({ method: 'POST', path: '/devices', json: deviceMessage(id) }, 204);
      }
    },
    readDevice: async () => (await get(`/devices/${deviceIds[0]}`)).text,
    async countStored() {
      const counts: number[] = [];
      for (const path of sensorPaths) {
        const { total } = await get(`${path.replace('/api/v2', '')}/values?limit=1`);
        counts.push(total ?? Number.NaN);
      }
      return counts;
    },
    async residentBytes() {
      const headers = { authorization: `Bearer ${token.text}` };
      const response = await fetch(`${url}/metrics`, { headers });
      const [, digits] = /^process_resident_memory_bytes (\S+)/m.exec(await response.text()) ?? [];
      return digits === undefined ? undefined : Number(digits);
    },
  };
}

function deviceMessage(id: string): object {
  return {
    id,
    name: `Weather station ${id}`,
    domain: 'weather',
    visibility: 'private',
    location: { latitude: 5.6037, longitude: -0.187 },
    sensors: sensorIds.map((sensorId) => ({
      id: sensorId,
      name: 'Air temperature',
      sensing_device: 'AirThermometer',
      quantity_kind: 'AirTemperature',
      unit: 'DegreeCelsius',
    })),
  };
}
