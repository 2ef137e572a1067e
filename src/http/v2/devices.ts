import Type from 'typebox';
import type { Snapshots } from '../../domain/datapoints/snapshots.ts';
import type { DeviceChanges } from '../../domain/devices/device.ts';
import type { Devices } from '../../domain/devices/devices.ts';
import { parseFilter } from '../../domain/devices/query.ts';
import { type DeviceId, parseDeviceId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import {
  DeviceMessage,
  deviceFromWire,
  NewDeviceMessage,
  readGatewayReference,
  readNewDevice,
  visibilities,
} from '../../wire/device.ts';
import { deviceText } from '../../wire/device-text.ts';
import { readMeta } from '../../wire/fields.ts';
import { LocationMessage } from '../../wire/location.ts';
import { done, jsonType, text } from '../answer.ts';
import { bareJson } from '../body.ts';
import { pageHeaders } from '../paging.ts';
import { defineRoute, type Route } from '../route.ts';
import { bareTextBody, type Field, fieldRoutes, ownerRoute } from './field-routes.ts';
import { optionalText, readFlag, readLocation, readVisibility } from './fields.ts';

const tag = 'Devices';

const DevicesQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      description: 'Filter, for instance owner==ama;TC1>30. See docs/query-language.md.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.devicesPageMax, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** Devices: create, list, read, change, delete. */
export function deviceRoutes(devices: Devices, snapshots: Snapshots): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/devices',
      tag,
      summary: 'Create a device; without a token it is everybody’s',
      body: { kind: 'json', schema: NewDeviceMessage },
      answer: { status: 204, description: 'Created.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict'],
      handle: async ({ actor, body }) => {
        await devices.create(actor, deviceFromWire(readNewDevice(body)));
        return done;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/devices',
      tag,
      summary: 'List the devices you may see, in order of creation',
      query: DevicesQuery,
      answer: {
        status: 200,
        description: 'Devices; X-Total-Count has the number of all that match.',
        content: { 'application/json': Type.Array(DeviceMessage) },
      },
      errors: ['invalid', 'unauthenticated'],
      handle: async ({ actor, query, url, spelling }) => {
        const { q, limit = limits.devicesPageDefault, offset = 0 } = query;
        const filter = q === undefined ? {} : { filter: parseFilter(q, spelling.queryField) };
        const page = await snapshots.devices(actor, { ...filter, limit, offset });
        const headers = pageHeaders({ url, total: page.total, limit, offset });
        const texts = page.snapshots.map((snapshot) => deviceText(snapshot, spelling));
        return text(jsonType, `[${texts.join(',')}]`, headers);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/devices/:device_id',
      tag,
      summary: 'Read a device with its sensors and their last values',
      answer: {
        status: 200,
        description: 'The device.',
        content: { 'application/json': DeviceMessage },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, spelling }) =>
        text(jsonType, deviceText(await snapshots.device(actor, deviceIdOf(params)), spelling)),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/devices/:device_id',
      tag,
      summary: 'Delete a device with its sensors, actuators, datapoints and grants',
      answer: { status: 204, description: 'Deleted.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await devices.remove(actor, deviceIdOf(params));
        return done;
      },
    }),
    ...fieldRoutes({
      path: '/devices/:device_id',
      tag,
      thing: 'a device',
      fields: deviceFields,
      update: (actor, params, changes) => devices.update(actor, deviceIdOf(params), changes),
    }),
    ownerRoute({
      path: '/devices/:device_id',
      tag,
      thing: 'a device',
      handOver: (actor, params, owner) => devices.handOver(actor, deviceIdOf(params), owner),
    }),
  ];
}

export const deviceIdOf = (params: Readonly<Record<string, string>>): DeviceId =>
  parseDeviceId(params['device_id']);

const deviceFields: readonly Field<DeviceChanges>[] = [
  { name: 'name', schema: bareTextBody, read: (body) => ({ name: optionalText(body) }) },
  { name: 'domain', schema: bareTextBody, read: (body) => ({ domain: optionalText(body) }) },
  {
    name: 'gateway_id',
    schema: bareTextBody,
    read: (body) => {
      const text = optionalText(body);
      return { gatewayId: text === undefined ? undefined : readGatewayReference(text.trim()) };
    },
  },
  {
    name: 'visibility',
    schema: { kind: 'bare', schema: Type.Enum([...visibilities], { type: 'string' }) },
    read: (body) => ({ visibility: readVisibility(body) }),
  },
  {
    name: 'location',
    schema: { kind: 'bare', schema: LocationMessage },
    read: (body) => ({ location: readLocation(body) }),
  },
  {
    name: 'meta',
    schema: { kind: 'bare', schema: Type.Unknown() },
    read: (body) => {
      const value = bareJson(body);
      return { meta: value === null ? undefined : readMeta(value) };
    },
  },
  {
    name: 'deployed',
    schema: { kind: 'bare', schema: Type.Boolean() },
    read: (body) => ({ isDeployed: readFlag('deployed', body) }),
  },
];
