import { deviceIds, sensorIds, sensorPaths } from './traffic.ts';

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
  const token = await send(url, { method: 'POST', path: '/api/v2/auth/token', json: login });
  const get = (path: string) => send(url, { method: 'GET', path, token: token.text });
  return {
    token: token.text,
    async createPopulation() {
      for (const id of deviceIds) {
        const json = deviceMessage(id);
        await send(url, { method: 'POST', path: '/api/v2/devices', token: token.text, json });
      }
    },
    readDevice: async () => (await get(`/api/v2/devices/${deviceIds[0]}`)).text,
    async countStored() {
      const counts: number[] = [];
      for (const path of sensorPaths) {
        const { headers } = await get(`${path}/values?limit=1`);
        counts.push(Number(headers.get('x-total-count') ?? Number.NaN));
      }
      return counts;
    },
    async residentBytes() {
      const { text } = await get('/metrics');
      const [, digits] = /^process_resident_memory_bytes (\S+)/m.exec(text) ?? [];
      return digits === undefined ? undefined : Number(digits);
    },
  };
}

async function send(
  url: string,
  request: {
    readonly method: string;
    readonly path: string;
    readonly token?: string;
    readonly json?: unknown;
  },
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const { method, path, token, json } = request;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (response.ok) return { text, headers: response.headers };
  throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 200)}`);
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
