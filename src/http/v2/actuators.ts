import Type from 'typebox';
import { type ActuatorChanges, actuatorValueTypes } from '../../domain/devices/actuator.ts';
import { invalid } from '../../domain/errors.ts';
import { type ActuatorId, parseActuatorId } from '../../domain/ids.ts';
import {
  readActuator,
  readActuatorValue,
  readConfirmed,
  readSettingTime,
  SettableActuatorMessage,
  settableActuatorToWire,
} from '../../wire/actuator.ts';
import { json } from '../answer.ts';
import { type BareBody, bareBody, bareJson, messageBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf, usualErrors } from '../route.ts';
import { deviceIdOf } from './devices.ts';
import { type Field, fieldRoutes, metaBody, optionalText, textBody } from './field-routes.ts';
import type { Services } from './services.ts';

const route = routesOf('Actuators');

/** Actuators of a device: add, list, read, set, change, delete. */
export function actuatorRoutes({ actuators }: Services): readonly Route[] {
  return [
    route.post('/devices/:device_id/actuators', {
      summary: 'Add an actuator, or replace its description',
      body: messageBody(readActuator),
      done: 'Added or replaced; a value that was set stays.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'limit_reached'],
      perform: ({ actor, params, body }) => actuators.put(actor, deviceIdOf(params), body),
    }),
    route.get('/devices/:device_id/actuators', {
      summary: 'List the actuators of a device',
      answer: messageAnswer('In order of creation.', Type.Array(SettableActuatorMessage)),
      handle: async ({ actor, params }) =>
        json((await actuators.list(actor, deviceIdOf(params))).map(settableActuatorToWire)),
    }),
    route.get(onePath, {
      summary: 'Read an actuator',
      answer: messageAnswer(
        'The actuator, with its value for those who may view the data, and with who set it and ' +
          'when for those who may set it.',
        SettableActuatorMessage,
      ),
      handle: async ({ actor, params }) =>
        json(
          settableActuatorToWire(
            await actuators.get(actor, deviceIdOf(params), actuatorIdOf(params)),
          ),
        ),
    }),
    route.delete(onePath, {
      summary: 'Delete an actuator',
      done: 'Deleted.',
      perform: ({ actor, params }) =>
        actuators.remove(actor, deviceIdOf(params), actuatorIdOf(params)),
    }),
    route.get(`${onePath}/value`, {
      summary: 'Read what an actuator is set to',
      answer: messageAnswer('The bare value, as JSON.', Type.Unknown()),
      handle: async ({ actor, params }) =>
        json(await actuators.value(actor, deviceIdOf(params), actuatorIdOf(params))),
    }),
    setRoute(actuators),
    ...fieldRoutes(route, {
      path: onePath,
      thing: 'an actuator',
      fields: actuatorFields,
      update: (actor, params, changes) =>
        actuators.update(actor, deviceIdOf(params), actuatorIdOf(params), changes),
    }),
  ];
}

const onePath = '/devices/:device_id/actuators/:actuator_id';

const actuatorIdOf = (params: Params): ActuatorId => parseActuatorId(params['actuator_id']);

function setRoute(actuators: Services['actuators']): Route {
  return route.put(`${onePath}/value`, {
    summary: 'Set an actuator to any JSON value; a text that is no JSON is itself',
    query: SettingQuery,
    body: bareBody(Type.Unknown(), (body) => readActuatorValue(bareJson(body))),
    done: 'Set: written and synced to disk.',
    errors: [...usualErrors, 'limit_reached'],
    perform: async ({ actor, params, query, body: value }) => {
      const actuator = [deviceIdOf(params), actuatorIdOf(params)] as const;
      const forMs = query.for === undefined ? undefined : readSettingTime(query.for);
      const confirmed = readConfirmed(value);
      if (confirmed !== undefined) await actuators.confirm(actor, ...actuator, confirmed.value);
      else if (forMs === undefined) await actuators.setValue(actor, ...actuator, value);
      else await actuators.setValue(actor, ...actuator, value, { forMs });
    },
  });
}

const SettingQuery = Type.Object({
  for: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Set it back after this time, such as 90s, 20m, 2h or 1d; also after a restart.',
      examples: ['20m'],
    }),
  ),
});

const typeBody = bareBody(Type.Enum([...actuatorValueTypes], { type: 'string' }), readValueType);

const actuatorFields: readonly Field<ActuatorChanges>[] = [
  { name: 'name', body: textBody((name) => ({ name })) },
  { name: 'actuator_kind', body: textBody((kind) => ({ kind })) },
  { name: 'value_type', body: typeBody },
  { name: 'actuator_value_type', body: typeBody },
  { name: 'meta', body: metaBody },
];

/** A word; a JSON null is read as the word null only between quotes, and else removes the field. */
function readValueType(body: BareBody): Pick<ActuatorChanges, 'valueType'> {
  const text = optionalText(body)?.trim();
  if (text === undefined) return { valueType: undefined };
  const valueType = actuatorValueTypes.find((word) => word === text);
  if (valueType !== undefined) return { valueType };
  throw invalid(`the value type must be one of ${actuatorValueTypes.join(', ')}`);
}
