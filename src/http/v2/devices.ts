import Type, { type Static } from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import type { DeviceChanges } from '../../domain/devices/device.ts';
import { parseFilter } from '../../domain/devices/query-evaluation.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import { type DeviceId, parseDeviceId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { isRecord } from '../../lib/record.ts';
import { inOneStep } from '../../lib/steps.ts';
import {
  CreatedDeviceMessage,
  DeviceChangesMessage,
  DeviceMessage,
  deviceChangesFromWire,
  NewDeviceMessage,
  NewDevicesMessage,
  readDevice,
  readGatewayReference,
  readTimezone,
} from '../../wire/device.ts';
import { deviceTexts, wholeDeviceText } from '../../wire/device-text.ts';
import { Plain } from '../../wire/fields.ts';
import { RefusalMessage, refusalToWire } from '../../wire/refusal.ts';
import { done, json, jsonType, written } from '../answer.ts';
import { asSent, bareBody, bareJson, jsonBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import {
  type Fields,
  fieldRoutes,
  handOverRoutes,
  locationBody,
  metaBody,
  textBody,
  visibilityBody,
} from './field-routes.ts';
import {
  metaParameter,
  metaSpelling,
  pageHeaders,
  pageQuery,
  valueOptions,
  valueParameters,
} from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Devices');

const DevicesQuery = Type.Object({
  q: Type.Optional(Plain('Filter, for instance owner==ama;TC1>30. See docs/query-language.md.')),
  ...pageQuery({ max: limits.devicesPageMax, usual: limits.devicesPageDefault }),
  ...valueParameters,
  ...metaParameter,
});

/** Devices: create, list, read, change, delete. */
export function deviceRoutes({ devices, snapshots, refusedPushes }: Services): readonly Route[] {
  return [
    createRoute(devices),
    route.get('/devices', {
      summary: 'List the devices you may see, in order of creation',
      query: DevicesQuery,
      answer: messageAnswer(
        'Devices; X-Total-Count has the number of all that match.',
        Type.Array(DeviceMessage),
      ),
      errors: ['invalid', 'unauthenticated'],
      handle: async ({ actor, query, url, spelling }) => {
        const { q, limit = limits.devicesPageDefault, offset = 0 } = query;
        const filter = q === undefined ? {} : { filter: parseFilter(q, spelling.queryField) };
        const options = { ...filter, ...valueOptions(query), limit, offset };
        const page = await snapshots.devices(actor, options);
        const headers = pageHeaders({ url, total: page.total, limit, offset });
        const texts = deviceTexts(page.steps, metaSpelling(query, spelling));
        return written(jsonType, inBrackets(texts), headers);
      },
    }),
    route.get('/devices/:device_id', {
      summary: 'Read a device with its sensors and their last values',
      query: Type.Object(valueParameters),
      isHot: true,
      answer: messageAnswer('The device.', DeviceMessage),
      handle: async ({ actor, params, query, spelling }) => {
        const snapshot = await snapshots.device(actor, deviceIdOf(params), valueOptions(query));
        const whole = wholeDeviceText(snapshot, spelling);
        return whole === undefined
          ? written(jsonType, deviceTexts(inOneStep([snapshot]), spelling))
          : { kind: 'text', contentType: jsonType, text: whole.text, headers: {}, whole };
      },
    }),
    route.delete('/devices/:device_id', {
      summary: 'Delete a device with its sensors, actuators, datapoints and grants',
      done: 'Deleted.',
      perform: ({ actor, params }) => devices.remove(actor, deviceIdOf(params)),
    }),
    route.patch('/devices/:device_id', {
      summary: 'Change fields of a device; null removes one',
      body: jsonBody(DeviceChangesMessage, deviceChangesFromWire),
      done: 'Changed, all of them or none.',
      perform: ({ actor, params, body }) => devices.update(actor, deviceIdOf(params), body),
    }),
    ...fieldRoutes(route, {
      path: '/devices/:device_id',
      thing: 'a device',
      fields: deviceFields,
      update: (actor, params, changes) => devices.update(actor, deviceIdOf(params), changes),
    }),
    ...handOverRoutes(route, {
      path: '/devices/:device_id',
      thing: 'device',
      acceptErrors: ['unauthenticated', 'forbidden', 'not_found', 'storage_full'],
      accept: (actor, params) => devices.accept(actor, deviceIdOf(params)),
      handOver: (actor, params, owner) => devices.handOver(actor, deviceIdOf(params), owner),
    }),
    refusalsRoute(refusedPushes),
  ];
}

/** Why nothing arrives: what was refused of late. */
function refusalsRoute(refusedPushes: Services['refusedPushes']): Route {
  return route.get('/devices/:device_id/refusals', {
    summary: 'See which pushes to a device were refused of late, and why (its owner)',
    answer: messageAnswer(
      'Those of a day, newest first, since the start of the service; what is alike is counted. ' +
        'With them what its owner sent to an id that is nearly this one, or to none.',
      Type.Array(RefusalMessage),
    ),
    handle: async ({ actor, params }) =>
      json((await refusedPushes.list(actor, deviceIdOf(params))).map(refusalToWire)),
  });
}

/** Makes one device, or each of an array. */
function createRoute(devices: Services['devices']): Route {
  return route.post('/devices', {
    summary: 'Create a device, or many; without a token they are everybody’s',
    body: jsonBody(Type.Union([NewDeviceMessage, NewDevicesMessage]), asSent, {
      documented: NewDeviceMessage,
    }),
    answer: {
      status: 204,
      description: 'Created.',
      alsoOk: {
        description: 'To an array: what became of each of its devices, in their order.',
        content: { 'application/json': Type.Array(CreatedDeviceMessage) },
      },
    },
    errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict'],
    handle: async ({ actor, body }) => {
      if (Array.isArray(body)) return json(await createMany(devices, actor, body));
      await devices.create(actor, readDevice(body));
      return done;
    },
  });
}

/** Creates devices one by one: lists keep their order, and other requests run in between. */
async function createMany(
  devices: Services['devices'],
  actor: Actor,
  messages: readonly unknown[],
): Promise<readonly Static<typeof CreatedDeviceMessage>[]> {
  if (!messages.some(isRecord)) throw invalid('the array has no device');
  if (messages.length > limits.devicesPerRequestMax) {
    throw invalid(
      `one request makes at most ${limits.devicesPerRequestMax} devices, got ${messages.length}`,
    );
  }
  const outcomes: Static<typeof CreatedDeviceMessage>[] = [];
  for (const message of messages) {
    const given = isRecord(message) ? message['id'] : undefined;
    const id = typeof given === 'string' ? { id: given.slice(0, limits.idCharactersMax) } : {};
    try {
      await devices.create(actor, readDevice(message));
      outcomes.push({ ...id, created: true });
    } catch (error) {
      // A service that cannot store is no fault of this device: the whole request fails.
      if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
      outcomes.push({ ...id, created: false, error: error.code, description: error.message });
    }
  }
  return outcomes;
}

/** The elements of an array, with its brackets. */
async function* inBrackets(elements: AsyncIterable<string>): AsyncGenerator<string> {
  yield '[';
  yield* elements;
  yield ']';
}

export const deviceIdOf = (params: Params): DeviceId => parseDeviceId(params['device_id']);

const deviceFields: Fields<DeviceChanges> = {
  name: textBody((name) => ({ name })),
  domain: textBody((domain) => ({ domain })),
  gateway_id: textBody((text) => ({ gatewayId: text && readGatewayReference(text.trim()) })),
  visibility: visibilityBody,
  location: locationBody,
  meta: metaBody,
  timezone: textBody((text) => ({
    timezone: text === undefined ? undefined : readTimezone(text.trim()),
  })),
  deployed: bareBody(Type.Boolean(), (body) => {
    const value = bareJson(body);
    if (value === null) return { isDeployed: undefined };
    if (typeof value === 'boolean') return { isDeployed: value };
    throw invalid('deployed must be true or false');
  }),
};
