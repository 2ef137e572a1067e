import Type, { type Static } from 'typebox';
import type { DeviceSnapshot } from '../domain/datapoints/snapshots.ts';
import type { NewDevice } from '../domain/devices/devices.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId, parseGatewayId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import {
  ActuatorMessage,
  actuatorFromWire,
  actuatorToWire,
  NewActuatorMessage,
} from './actuator.ts';
import { Anything, DateText, Id, newMeta, OneOf, Text } from './fields.ts';
import { LocationMessage, locationFromWire } from './location.ts';
import { NewSensorMessage, SensorMessage, sensorFromWire, sensorToWire } from './sensor.ts';
import { createReader } from './validation.ts';

export const visibilities = ['public', 'private'] as const;

const described = {
  id: Id('Unique among all devices.', 'MyDevice78'),
  gateway_id: Type.Optional(Text('Id of the gateway the device is connected to.')),
  name: Type.Optional(Text('Human-readable name.', 'Field 3, maize')),
  domain: Type.Optional(Text('Groups devices of one application domain.')),
  visibility: Type.Optional(OneOf(visibilities, 'Who may see it; absent counts as public.')),
  location: Type.Optional(LocationMessage),
  meta: Type.Optional(Anything('Anything you want to keep with it.')),
  deployed: Type.Optional(Type.Boolean({ description: 'Whether it is in the field.' })),
};

const manyOf = { maxItems: limits.sensorsPerDeviceMax };

export const NewDeviceMessage = Type.Object({
  ...described,
  sensors: Type.Optional(Type.Array(NewSensorMessage, manyOf)),
  actuators: Type.Optional(Type.Array(NewActuatorMessage, manyOf)),
});

export const DeviceMessage = Type.Object({
  ...described,
  owner: Type.String({ description: 'Username, or guest.' }),
  sensors: Type.Array(SensorMessage),
  actuators: Type.Array(ActuatorMessage),
  date_created: DateText('Set by the service.'),
  date_modified: DateText('Set by the service.'),
});

export const readNewDevice = createReader(NewDeviceMessage, 'device');

export function deviceFromWire(message: Static<typeof NewDeviceMessage>): NewDevice {
  const { name, domain, visibility, location, meta, deployed } = message;
  const gatewayId = message.gateway_id;
  const sensors = (message.sensors ?? []).map(sensorFromWire);
  const actuators = (message.actuators ?? []).map(actuatorFromWire);
  requireDistinct('sensor', sensors);
  requireDistinct('actuator', actuators);
  return {
    id: parseDeviceId(message.id),
    ...(gatewayId !== undefined && { gatewayId: readGatewayReference(gatewayId) }),
    ...(name !== undefined && { name }),
    ...(domain !== undefined && { domain }),
    ...(visibility !== undefined && { visibility }),
    ...(location !== undefined && { location: locationFromWire(location) }),
    ...newMeta(meta),
    ...(deployed !== undefined && { isDeployed: deployed }),
    sensors,
    actuators,
  };
}

/** A gateway's id, or the empty text that old clients send for "none". */
export function readGatewayReference(text: string): string {
  return text === '' ? text : parseGatewayId(text);
}

function requireDistinct(kind: string, things: readonly { readonly id: string }[]): void {
  const seen = new Set<string>();
  for (const { id } of things) {
    if (seen.has(id)) throw invalid(`the ${kind} id ${id} is given twice`);
    seen.add(id);
  }
}

export function deviceToWire({ device, lastValueOf }: DeviceSnapshot): object {
  const { gatewayId, name, domain, visibility, location, meta, isDeployed } = device;
  return {
    id: device.id,
    ...(gatewayId !== undefined && { gateway_id: gatewayId }),
    ...(name !== undefined && { name }),
    ...(domain !== undefined && { domain }),
    owner: device.owner,
    ...(visibility !== undefined && { visibility }),
    ...(location !== undefined && { location }),
    sensors: device.sensors.map((sensor) =>
      sensorToWire({ sensor, lastValue: lastValueOf(sensor) }),
    ),
    actuators: device.actuators.map(actuatorToWire),
    ...(meta !== undefined && { meta }),
    ...(isDeployed !== undefined && { deployed: isDeployed }),
    date_created: formatTimestamp(device.createdAt),
    date_modified: formatTimestamp(device.modifiedAt),
  };
}
