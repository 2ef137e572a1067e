import { type ApiClient, refusal, textField } from '../client/api-client.ts';
import { inParallel } from '../parallel.ts';
import { demoLimits } from './demo-limits.ts';
import type { DemoDevice } from './fleet.ts';
import type { SensorModel } from './model.ts';

/** Makes the devices that are not there yet, in their order; answers how many it made. */
export async function registerFleet(
  client: ApiClient,
  options: { readonly fleet: readonly DemoDevice[]; readonly owner: string },
): Promise<number> {
  const { fleet, owner } = options;
  let made = 0;
  // The first alone: its refusal should stop everything before the rest is tried.
  const [first, ...others] = fleet;
  const register = async (device: DemoDevice) => {
    if (await registerDevice(client, device, owner)) made += 1;
  };
  if (first !== undefined) await register(first);
  await inParallel(others, demoLimits.requestsInParallel, register);
  return made;
}

/** Lets a second user see a device and its data [contract 4]. */
export async function shareDevices(
  client: ApiClient,
  options: { readonly fleet: readonly DemoDevice[]; readonly username: string },
): Promise<number> {
  const shared = options.fleet.filter(({ isShared }) => isShared);
  for (const { id } of shared) {
    const path = `${pathOf(id)}/grants/${encodeURIComponent(options.username)}`;
    const rights = ['devices:view', 'devices-data:view'];
    await client.need({ method: 'PUT', path, json: rights }, 204);
  }
  return shared.length;
}

/** Where a device is found. */
export const pathOf = (deviceId: string): string => `/devices/${encodeURIComponent(deviceId)}`;

async function registerDevice(
  client: ApiClient,
  device: DemoDevice,
  owner: string,
): Promise<boolean> {
  const request = { method: 'POST', path: '/devices', json: deviceMessage(device, owner) } as const;
  const answer = await client.call(request);
  if (answer.status === 204) return true;
  if (answer.status !== 422) throw refusal(request, answer);
  await adopt(client, device, owner);
  return false;
}

/** Goes on with a device of an earlier run; it may have been made by another version. */
async function adopt(client: ApiClient, device: DemoDevice, owner: string): Promise<void> {
  const path = pathOf(device.id);
  const { status, json } = await client.need({ method: 'GET', path }, 200, 403);
  if (status === 403 || textField(json, 'owner') !== owner) {
    throw new Error(
      `the device ${device.id} belongs to somebody else: log in as its owner, or choose ` +
        'another --prefix',
    );
  }
  const known = new Set(sensorIdsOf(json));
  for (const sensor of device.sensors) {
    if (known.has(sensor.id)) continue;
    const post = { method: 'POST', path: `${path}/sensors`, json: sensorMessage(sensor) } as const;
    await client.need(post, 204);
  }
}

function sensorIdsOf(device: unknown): readonly string[] {
  const sensors: unknown =
    typeof device === 'object' && device !== null && 'sensors' in device ? device.sensors : [];
  return Array.isArray(sensors)
    ? sensors.map((sensor: unknown) => textField(sensor, 'id') ?? '')
    : [];
}

function deviceMessage(device: DemoDevice, owner: string): object {
  const { id, name, domain, gatewayId, latitude, longitude } = device;
  // What a guest makes is public, for nobody could open it again [contract 4].
  const visibility = device.isPrivate && owner !== 'guest' ? 'private' : 'public';
  return {
    id,
    name,
    domain,
    gateway_id: gatewayId,
    visibility,
    location: { latitude, longitude },
    sensors: device.sensors.map(sensorMessage),
    actuators: device.actuators.map((actuator) => ({
      id: actuator.id,
      name: actuator.name,
      actuator_kind: actuator.actuatorKind,
      actuator_value_type: actuator.valueType,
    })),
    meta: { simulated: true },
    deployed: true,
  };
}

function sensorMessage(sensor: SensorModel): object {
  return {
    id: sensor.id,
    name: sensor.name,
    sensing_device: sensor.sensingDevice,
    quantity_kind: sensor.quantityKind,
    unit: sensor.unit,
  };
}
