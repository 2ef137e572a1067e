import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service } from '../service.ts';
import { datapointsOf, minute, type WireDatapoint } from '../v2/sensor-endpoint.ts';

/** Values that a copy must not change, keys of our own words among them. */
export const oddValues: readonly unknown[] = [
  ...['25', '', 'a\n"b"', '测量', true, null, [1, [2]], -0.5, 1e21],
  ...[{ sensors: [{ id: 'x', measurements: 1 }], value: { timestamp: 'no' } }, { __proto__: null }],
];

const calib = {
  linear: {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 10 },
    value_max: { sensor_value: 10, real_value: 30 },
  },
};

/** The devices of ama at home: public and private, with whatever a device may have. */
export function devicesOf(count: number): readonly Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `*field-${index}`,
    name: `Field ${index}, 测量`,
    gateway_id: 'tower',
    domain: 'maize',
    visibility: index % 2 === 0 ? 'private' : 'public',
    location: { latitude: index, longitude: -index },
    meta: { crop: 'maize', sensors: ['kept'], rows: [1, null] },
    deployed: index % 3 === 0,
    sensors: [
      { id: 'TC1', name: 'Air', sensor_kind: 'Thermometer', unit: 'DegreeCelsius', calib },
      {
        id: 'odd',
        sensing_device: 'Any',
        quantity_kind: 'Any',
        measures: 'amount',
        meta: { a: 1 },
      },
    ],
    actuators: [{ id: 'pump', value_type: 'object', actuator_kind: 'Pump', value: { on: [true] } }],
  }));
}

/** Fills a service as ama would have, through its API; answers how many values there are. */
export async function fill(service: Service, devices: number, values: number): Promise<number> {
  const ama = service.as('ama');
  const expect = async (status: number, call: Parameters<typeof ama>[0]) => {
    const reply = await ama(call);
    assert.equal(reply.status, status, reply.text);
  };
  const post = { method: 'POST' } as const;
  await expect(200, { ...post, path: '/gateways', json: { id: 'tower', visibility: 'private' } });
  for (const json of devicesOf(devices)) {
    await expect(204, { ...post, path: '/devices', json });
    const path = `/devices/${json['id']}/sensors`;
    const history = Array.from({ length: values }, (_, n) => ({ value: n, timestamp: minute(n) }));
    await expect(204, { ...post, path: `${path}/TC1/values`, json: history });
    await expect(204, {
      ...{ ...post, path: `${path}/odd/values` },
      json: oddValues.map((value, n) => ({ value, timestamp: minute(n >> 1) })),
    });
    // Of a device without a clock, with twins in one push.
    const clockless = [1, 1, 2, 1].map((value) => ({ value }));
    await expect(204, { ...post, path: `${path}/odd/values`, json: clockless });
  }
  const project = { id: 'north', name: 'North', device_ids: ['*field-1', 'gone'] };
  await expect(200, { ...post, path: '/projects', json: { ...project, gateway_ids: ['tower'] } });
  for (const json of rules) await expect(200, { ...post, path: '/notifications', json });
  return devices * (values + oddValues.length + 4);
}

const message = { usernames: ['ama'], channels: ['sms'], message: 'It is {TC1}' };
const watched = { devices: ['*field-0'], sensors: ['TC1'], expression: 'TC1 > 5' };
const pumped = { device_id: '*field-0', actuator_id: 'pump', actuator_value: { on: false } };

/** Two say the same, and one is paused. */
const rules: readonly object[] = [
  { description: 'Hot', condition: watched, action: message, throttling: 60 },
  { description: 'Hot', condition: watched, action: message, throttling: 60 },
  {
    ...{ description: 'Paused', status: 'inactive', expires: '2030-01-31T12:00:00Z' },
    ...{ condition: watched, action: { type: 'ActuationAction', value: pumped } },
  },
];

type Json = Readonly<Record<string, unknown>>;

/** What a user has, without what each service says for itself. */
export interface Inventory {
  readonly devices: readonly Json[];
  /** By device and sensor: the time and the value of each. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  readonly gateways: readonly Json[];
  readonly projects: readonly Json[];
  readonly notifications: readonly Json[];
}

/** What a copy of all that a user has must hold: twins without a clock a millisecond apart. */
export async function copiedInventoryOf(service: Service, username: string): Promise<Inventory> {
  const inventory = await inventoryOf(service, username);
  const values = Object.entries(inventory.values).map(([sensor, datapoints]) => {
    if (!sensor.endsWith('/odd')) return [sensor, datapoints];
    const [first] = datapoints.slice(-4) as readonly [string, unknown][];
    const received = Date.parse(first?.[0] ?? '');
    const at = (ms: number, value: number) => [new Date(received + ms).toISOString(), value];
    return [sensor, [...datapoints.slice(0, -4), at(0, 1), at(0, 2), at(1, 1), at(2, 1)]];
  });
  return { ...inventory, values: Object.fromEntries(values) };
}

/** All that a user has. */
export async function inventoryOf(service: Service, username: string): Promise<Inventory> {
  const call = service.as(username);
  const list = async (path: string, own: readonly string[]) => {
    const reply = await call({ path: `${path}?limit=1000` });
    const things = reply.json as readonly Record<string, unknown>[];
    const mine = things.filter(({ owner }) => owner === username);
    return mine.map((thing) => without(thing, ['owner', ...own]));
  };
  const dates = ['date_created', 'date_modified'];
  const devices = await list('/devices', dates);
  const values: Record<string, readonly unknown[]> = {};
  for (const { id, sensors } of devices) {
    for (const sensor of sensors as { id: string; value?: unknown; last_value?: unknown }[]) {
      const path = `/devices/${id}/sensors/${sensor.id}/values?limit=100000&calibrated=false`;
      values[`${id}/${sensor.id}`] = datapointsOf(await call({ path })).map(stamped);
      delete sensor.value;
      delete sensor.last_value;
    }
  }
  return {
    ...{ devices, values, gateways: await list('/gateways', dates) },
    projects: await list('/projects', []),
    // An account of the source need not be one here: its name then reaches nobody.
    notifications: await list('/notifications', ['id', 'unknown_usernames', ...dates]),
  };
}

/** A value with the time it is drawn at; a copy turns the one of receipt into a timestamp. */
function stamped({ value, timestamp, date_received }: WireDatapoint): readonly unknown[] {
  return [timestamp ?? date_received, value];
}

function without(thing: Json, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(thing).filter(([field]) => !fields.includes(field)));
}

/** A proxy in front of a service, which may answer by itself or break the line. */
export interface Proxy {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What becomes of a request: passed on, answered with a status, or its answer cut off. */
export type Fate = 'pass' | 'cut' | number | ((response: ServerResponse) => void);

export async function startProxy(
  target: string,
  fateOf: (request: IncomingMessage, count: number) => Fate,
): Promise<Proxy> {
  let count = 0;
  const server = createServer((incoming, response) => {
    count += 1;
    const fate = fateOf(incoming, count);
    if (typeof fate === 'function') return fate(response);
    if (typeof fate === 'number') {
      incoming.resume();
      response.writeHead(fate, { 'retry-after': '0' }).end('{"description":"not now"}');
      return;
    }
    const { method, url, headers } = incoming;
    const onward = request(target + url, { method: method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (fate === 'pass') answer.pipe(response);
      // Some of the body, and then the line is gone.
      else answer.once('data', (piece) => response.write(piece, () => response.destroy()));
      answer.once('end', () => response.end());
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
