import {
  createSoakClient,
  openSoakConnection,
  openSoakPublisher,
  type SoakClient,
} from './soak-client.ts';

/** What is done each second. */
export interface SoakRates {
  /** Single values over HTTP. */
  readonly pushes: number;
  /** Single values over MQTT, with QoS 1. */
  readonly publishes: number;
  /** Requests with `bulkValues` values each, of many sensors. */
  readonly bulks: number;
  readonly reads: number;
  readonly logins: number;
  /** Of MQTT clients that log in, subscribe to a device, and leave. */
  readonly reconnections: number;
}

/** The loads by name: that of issue 15, and what a small board has to serve. */
export const soakLoads: ReadonlyMap<string, SoakRates> = new Map([
  ['mixed', { pushes: 320, publishes: 200, bulks: 4, reads: 22, logins: 0.5, reconnections: 5 }],
  ['board', { pushes: 30, publishes: 14, bulks: 0.5, reads: 5, logins: 0.1, reconnections: 0.4 }],
]);

export const soakPopulation = { devices: 50, sensorsPerDevice: 20 } as const;
const bulkValues = 250;
const publishers = 8;
const tickMs = 20;
/** Of one kind under way; what is due beyond it is left out, and counted. */
const underWayMax = 64;

export interface SoakService {
  readonly url: string;
  readonly mqttPort: number;
  readonly username: string;
  readonly password: string;
}

/** What happened of one kind since the start. */
export interface SoakCount {
  done: number;
  failed: number;
  /** Was due and not begun, as too much was under way. */
  leftOut: number;
  /** The first failure. */
  reason?: string;
}

export interface SoakLoad {
  readonly counts: ReadonlyMap<string, SoakCount>;
  /** With the token of the load. */
  readonly client: SoakClient;
  stop(): void;
}

const deviceId = (at: number): string => `soak-${at % soakPopulation.devices}`;
const sensorId = (at: number): string =>
  `S${Math.floor(at / soakPopulation.devices) % soakPopulation.sensorsPerDevice}`;

/** Makes the devices, opens the connections, and begins. */
export async function startSoakLoad(service: SoakService, rates: SoakRates): Promise<SoakLoad> {
  const token = await logIn(createSoakClient(service.url), service);
  const client = createSoakClient(service.url, token);
  await createDevices(client);
  const actions = await actionsOf(service, client, token);
  const kinds = Object.entries(rates).map(([name, perSecond]) => ({
    ...{ name, perSecond, due: 0, underWay: 0, at: 0 },
    act: actions[name as keyof SoakRates],
    count: { done: 0, failed: 0, leftOut: 0 } as SoakCount,
  }));
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const seconds = (now - lookedAt) / 1_000;
    lookedAt = now;
    for (const kind of kinds) {
      kind.due += kind.perSecond * seconds;
      for (; kind.due >= 1; kind.due -= 1) begin(kind);
    }
  }, tickMs);

  function begin(kind: (typeof kinds)[number]): void {
    if (kind.underWay >= underWayMax) {
      kind.count.leftOut += 1;
      return;
    }
    kind.underWay += 1;
    kind.at += 1;
    kind
      .act(kind.at)
      .then(
        () => {
          kind.count.done += 1;
        },
        (error: Error) => {
          kind.count.failed += 1;
          kind.count.reason ??= error.message;
        },
      )
      .finally(() => {
        kind.underWay -= 1;
      });
  }

  // What was begun has connections that end with the service, or with this process.
  return {
    counts: new Map(kinds.map(({ name, count }) => [name, count])),
    client,
    stop() {
      clearInterval(timer);
      client.close();
    },
  };
}

type Actions = Readonly<Record<keyof SoakRates, (at: number) => Promise<unknown>>>;

async function actionsOf(
  service: SoakService,
  client: SoakClient,
  first: string,
): Promise<Actions> {
  let token = first;
  const login = (clientId: string) => ({
    ...{ port: service.mqttPort, clientId, username: service.username, password: token },
  });
  // A key, as devices have one: of all the tokens that are made meanwhile the oldest are dropped.
  const password = await createKey(client);
  const open = await Promise.all(
    Array.from({ length: publishers }, (_, at) =>
      openSoakPublisher({ ...login(`soak-pub-${at}`), password }),
    ),
  );
  const anonymous = createSoakClient(service.url);
  // Devices have connections of their own, which nothing else is asked over.
  const devices = createSoakClient(service.url, token);
  return {
    pushes: (at) => need(devices, 'POST', `${sensorPath(at)}/value`, pushOf(at), 204),
    publishes: async (at) => {
      const topic = `devices/${deviceId(at)}/sensors/${sensorId(at)}/value`;
      await open[at % publishers]?.publish(topic, pushOf(at));
    },
    bulks: (at) => need(client, 'POST', '/api/v2/sensors_data', bulkOf(at), 200),
    reads: (at) => need(client, 'GET', readPath(at), undefined, 200),
    logins: async () => {
      token = await logIn(anonymous, service);
      for (const known of [client, devices]) known.authorize(token);
    },
    reconnections: async (at) => {
      const connection = await openSoakConnection(login(`soak-sub-${at % 50}`));
      await connection.subscribe(`devices/${deviceId(at)}/#`, 0);
      connection.close();
    },
  };
}

async function need(
  client: SoakClient,
  method: string,
  path: string,
  body: string | undefined,
  expected: number,
): Promise<string> {
  const { status, text } = await client.call(method, path, body);
  if (status === expected) return text;
  throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 200)}`);
}

const logIn = (client: SoakClient, { username, password }: SoakService): Promise<string> =>
  need(client, 'POST', '/api/v2/auth/token', JSON.stringify({ username, password }), 200);

async function createKey(client: SoakClient): Promise<string> {
  const asked = JSON.stringify({ name: 'soak publishers' });
  const { key } = JSON.parse(await need(client, 'POST', '/api/v2/auth/keys', asked, 200));
  return String(key);
}

async function createDevices(client: SoakClient): Promise<void> {
  for (let at = 0; at < soakPopulation.devices; at += 1) {
    const sensors = Array.from({ length: soakPopulation.sensorsPerDevice }, (_, sensor) => ({
      ...{ id: `S${sensor}`, name: 'Air temperature', quantity_kind: 'AirTemperature' },
    }));
    const device = { id: deviceId(at), name: `Soak ${at}`, visibility: 'private', sensors };
    const { status } = await client.call('GET', `/api/v2/devices/${device.id}`);
    if (status === 200) continue;
    await need(client, 'POST', '/api/v2/devices', JSON.stringify(device), 204);
  }
}

const sensorPath = (at: number): string =>
  `/api/v2/devices/${deviceId(at)}/sensors/${sensorId(at)}`;

/** Like a thermometer: one decimal place, small steps. */
const reading = (at: number): number =>
  20 + (Math.round(40 * Math.sin(at / 5_000)) + (at % 7)) / 10;

const pushOf = (at: number): string =>
  JSON.stringify({ value: reading(at), timestamp: new Date().toISOString() });

/** The last seconds of some sensors, as a gateway sends them. */
function bulkOf(at: number): string {
  const now = Date.now();
  return JSON.stringify(
    Array.from({ length: bulkValues }, (_, index) => ({
      device_id: deviceId(at * 7 + index),
      sensor_id: sensorId(at * 7 + index * soakPopulation.devices),
      value: reading(at + index),
      timestamp: new Date(now - index).toISOString(),
    })),
  );
}

/** What people and programs ask: devices, lists, last values, histories and summaries. */
function readPath(at: number): string {
  const device = `/api/v2/devices/${deviceId(at)}`;
  const values = `${sensorPath(at)}/values`;
  const paths = [
    device,
    `${values}?lastN=100`,
    `${values}?limit=1000`,
    device,
    '/api/v2/devices?limit=20',
    `${values}?lastN=1000`,
    `${device}/sensors`,
  ];
  return paths[at % paths.length] ?? device;
}
