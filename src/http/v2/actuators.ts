import Type from 'typebox';
import { type ActuatorChanges, actuatorValueTypes } from '../../domain/devices/actuator.ts';
import type { Actuators } from '../../domain/devices/actuators.ts';
import { invalid } from '../../domain/errors.ts';
import { type ActuatorId, parseActuatorId } from '../../domain/ids.ts';
import {
  ActuatorMessage,
  actuatorFromWire,
  actuatorToWire,
  NewActuatorMessage,
  readActuatorValue,
  readNewActuator,
} from '../../wire/actuator.ts';
import { readMeta } from '../../wire/fields.ts';
import { done, json } from '../answer.ts';
import { type BareBody, bareJson } from '../body.ts';
import { defineRoute, type Route, type RouteBody } from '../route.ts';
import { deviceIdOf } from './devices.ts';
import { bareTextBody, type Field, fieldRoutes } from './field-routes.ts';
import { optionalText } from './fields.ts';

const tag = 'Actuators';

/** Actuators of a device: add, list, read, set, change, delete. */
export function actuatorRoutes(actuators: Actuators): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/devices/:device_id/actuators',
      tag,
      summary: 'Add an actuator, or replace its description',
      body: { kind: 'json', schema: NewActuatorMessage },
      answer: { status: 204, description: 'Added or replaced; a value that was set stays.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, body }) => {
        await actuators.put(actor, deviceIdOf(params), actuatorFromWire(readNewActuator(body)));
        return done;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/devices/:device_id/actuators',
      tag,
      summary: 'List the actuators of a device',
      answer: {
        status: 200,
        description: 'In order of creation.',
        content: { 'application/json': Type.Array(ActuatorMessage) },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json((await actuators.list(actor, deviceIdOf(params))).map(actuatorToWire)),
    }),
    defineRoute({
      method: 'GET',
      path: onePath,
      tag,
      summary: 'Read an actuator',
      answer: {
        status: 200,
        description: 'The actuator, with its value for those who may view the data.',
        content: { 'application/json': ActuatorMessage },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json(actuatorToWire(await actuators.get(actor, deviceIdOf(params), actuatorIdOf(params)))),
    }),
    defineRoute({
      method: 'DELETE',
      path: onePath,
      tag,
      summary: 'Delete an actuator',
      answer: { status: 204, description: 'Deleted.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await actuators.remove(actor, deviceIdOf(params), actuatorIdOf(params));
        return done;
      },
    }),
    ...valueRoutes(actuators),
    ...fieldRoutes({
      path: onePath,
      tag,
      thing: 'an actuator',
      fields: actuatorFields,
      update: (actor, params, changes) =>
        actuators.update(actor, deviceIdOf(params), actuatorIdOf(params), changes),
    }),
  ];
}

const onePath = '/devices/:device_id/actuators/:actuator_id';

const actuatorIdOf = (params: Readonly<Record<string, string>>): ActuatorId =>
  parseActuatorId(params['actuator_id']);

function valueRoutes(actuators: Actuators): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${onePath}/value`,
      tag,
      summary: 'Read what an actuator is set to',
      answer: {
        status: 200,
        description: 'The bare value, as JSON.',
        content: { 'application/json': Type.Unknown() },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json(await actuators.value(actor, deviceIdOf(params), actuatorIdOf(params))),
    }),
    defineRoute({
      method: 'PUT',
      path: `${onePath}/value`,
      tag,
      summary: 'Set an actuator to any JSON value; a text that is no JSON is itself',
      body: { kind: 'bare', schema: Type.Unknown() },
      answer: { status: 204, description: 'Set: written and synced to disk.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'unavailable'],
      handle: async ({ actor, params, body }) => {
        const value = readActuatorValue(bareJson(body));
        await actuators.setValue(actor, deviceIdOf(params), actuatorIdOf(params), value);
        return done;
      },
    }),
  ];
}

const bareType: RouteBody = {
  kind: 'bare',
  schema: Type.Enum([...actuatorValueTypes], { type: 'string' }),
};

const actuatorFields: readonly Field<Omit<ActuatorChanges, 'value'>>[] = [
  { name: 'name', schema: bareTextBody, read: (body) => ({ name: optionalText(body) }) },
  { name: 'actuator_kind', schema: bareTextBody, read: (body) => ({ kind: optionalText(body) }) },
  { name: 'value_type', schema: bareType, read: readValueType },
  { name: 'actuator_value_type', schema: bareType, read: readValueType },
  {
    name: 'meta',
    schema: { kind: 'bare', schema: Type.Unknown() },
    read: (body) => {
      const value = bareJson(body);
      return { meta: value === null ? undefined : readMeta(value) };
    },
  },
];

/** A word; a JSON null is read as the word null only between quotes, and else removes the field. */
function readValueType(body: BareBody): Pick<ActuatorChanges, 'valueType'> {
  const text = optionalText(body)?.trim();
  if (text === undefined) return { valueType: undefined };
  const valueType = actuatorValueTypes.find((word) => word === text);
  if (valueType !== undefined) return { valueType };
  throw invalid(`the value type must be one of ${actuatorValueTypes.join(', ')}`);
}
