import Type, { type Static } from 'typebox';
import type { Device, DeviceChanges } from '../domain/devices/device.ts';
import type { NewDevice } from '../domain/devices/devices.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId, parseGatewayId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import { findTimeZone } from '../lib/time-zone.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import {
  ActuatorMessage,
  actuatorFromWire,
  actuatorToWire,
  NewActuatorMessage,
} from './actuator.ts';
import {
  Anything,
  DateText,
  Flag,
  Id,
  LocationMessage,
  Message,
  newMeta,
  OneOf,
  optional,
  Plain,
  Prose,
  removedIn,
  Text,
  type Wire,
} from './fields.ts';
import { NewSensorMessage, SensorMessage, sensorFromWire, sensorToWire } from './sensor.ts';
import { createReader, shown } from './validation.ts';

export const visibilities = ['public', 'private'] as const;

const described = {
  id: Id('Unique among all devices.', 'MyDevice78'),
  ...optional({
    gateway_id: Text('Id of the gateway the device is connected to.'),
    name: Text('Human-readable name.', 'Field 3, maize'),
    domain: Text('Groups devices of one application domain.'),
    visibility: OneOf(visibilities, 'Who may see it; absent counts as public.'),
    location: LocationMessage,
    meta: Anything('Anything you want to keep with it.'),
    deployed: Flag('Whether it is in the field.'),
    timezone: Text('Its time zone, an IANA name.', 'Africa/Dakar'),
  }),
};

const manyOf = { maxItems: limits.sensorsPerDeviceMax };

export const NewDeviceMessage = Message('NewDevice', {
  ...described,
  sensors: Type.Optional(Type.Array(NewSensorMessage, manyOf)),
  actuators: Type.Optional(Type.Array(NewActuatorMessage, manyOf)),
});

export const DeviceMessage = Message('Device', {
  ...described,
  pending: Type.Optional(Flag('Handed over and not accepted yet; for its owner and the receiver.')),
  owner: Plain('Username, or guest.'),
  sensors: Type.Array(SensorMessage),
  actuators: Type.Array(ActuatorMessage),
  date_created: DateText('Set by the service.'),
  date_modified: DateText('Set by the service.'),
});

const { id: _id, ...changeable } = described;

/** Fields that a PATCH may change; everything else in it is ignored. */
export const DeviceChangesMessage = Message('DeviceChanges', changeable);

/** Many new devices, each made or refused by itself. */
export const NewDevicesMessage = Type.Array(NewDeviceMessage, {
  minItems: 1,
  maxItems: limits.devicesPerRequestMax,
});

/** The outcome of one of many new devices. */
export const CreatedDeviceMessage = Message('CreatedDevice', {
  id: Type.Optional(Plain('As it was given.')),
  created: Type.Boolean(),
  error: Type.Optional(Plain('The code of the refusal.')),
  description: Type.Optional(Prose('What to change.')),
});

const readDeviceChanges = createReader(DeviceChangesMessage, 'device', descriptionFromWire);

export const readDevice = createReader(NewDeviceMessage, 'device', (message): NewDevice => {
  const sensors = (message.sensors ?? []).map(sensorFromWire);
  const actuators = (message.actuators ?? []).map(actuatorFromWire);
  requireDistinct('sensor', sensors);
  requireDistinct('actuator', actuators);
  return { id: parseDeviceId(message.id), ...descriptionFromWire(message), sensors, actuators };
});

type Description = Static<typeof DeviceChangesMessage>;

function descriptionFromWire(message: Description) {
  const { name, domain, visibility, location, meta, deployed, timezone } = message;
  const gatewayId = message.gateway_id;
  return defined({
    gatewayId: ifDefined(gatewayId, readGatewayReference),
    name,
    domain,
    visibility,
    location,
    ...newMeta(meta),
    isDeployed: deployed,
    timezone: ifDefined(timezone, readTimezone),
  });
}

/** Fields by their names in the API, which a null removes. */
const removable = {
  gateway_id: 'gatewayId',
  name: 'name',
  domain: 'domain',
  visibility: 'visibility',
  location: 'location',
  meta: 'meta',
  deployed: 'isDeployed',
  timezone: 'timezone',
} as const satisfies Readonly<Record<keyof Description, keyof DeviceChanges>>;

/** Changes to a device; a field that is null is removed, one that is absent stays. */
export function deviceChangesFromWire(body: unknown): DeviceChanges {
  if (isRecord(body) && body['owner'] !== undefined) {
    throw invalid('owner is not changed here: send the new one to PUT …/owner');
  }
  return { ...readDeviceChanges(body), ...removedIn(body, removable) };
}

/** The name of a time zone as IANA has it. Throws invalid. */
export function readTimezone(text: string): string {
  // An offset such as +01:00 is understood, too, but it is no zone: it knows no summer time.
  if (/^[A-Za-z]/.test(text) && findTimeZone(text) !== undefined) return text;
  throw invalid(`timezone must be an IANA name such as Africa/Dakar, got ${shown(text)}`);
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

/** The device without last values. */
export function deviceToWire(device: Device): Wire<typeof DeviceMessage> {
  const { gatewayId, name, domain, visibility, location, meta, isDeployed, timezone, isPending } =
    device;
  return defined({
    id: device.id,
    gateway_id: gatewayId,
    name,
    domain,
    owner: device.owner,
    ...((isPending === true || device.offeredTo !== undefined) && { pending: true }),
    visibility,
    location,
    sensors: device.sensors.map((sensor) => sensorToWire({ sensor, lastValue: undefined })),
    actuators: device.actuators.map(actuatorToWire),
    meta,
    deployed: isDeployed,
    timezone,
    date_created: formatTimestamp(device.createdAt),
    date_modified: formatTimestamp(device.modifiedAt),
  });
}
