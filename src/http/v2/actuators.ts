import Type from 'typebox';
import { type ActuatorChanges, actuatorValueTypes } from '../../domain/devices/actuator.ts';
import { type ActuatorId, type DeviceId, parseActuatorId } from '../../domain/ids.ts';
import { defined } from '../../lib/record.ts';
import {
  readActuator,
  readActuatorValue,
  readConfirmed,
  readSettingTime,
  SettableActuatorMessage,
  settableActuatorToWire,
} from '../../wire/actuator.ts';
import { json } from '../answer.ts';
import { bareBody, bareJson, messageBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf, usualErrors } from '../route.ts';
import { deviceIdOf } from './devices.ts';
import { type Fields, fieldRoutes, metaBody, textBody, wordBody } from './field-routes.ts';
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
        json(settableActuatorToWire(await actuators.get(actor, ...actuatorOf(params)))),
    }),
    route.delete(onePath, {
      summary: 'Delete an actuator',
      done: 'Deleted.',
      perform: ({ actor, params }) => actuators.remove(actor, ...actuatorOf(params)),
    }),
    route.get(`${onePath}/value`, {
      summary: 'Read what an actuator is set to',
      answer: messageAnswer('The bare value, as JSON.', Type.Unknown()),
      handle: async ({ actor, params }) =>
        json(await actuators.value(actor, ...actuatorOf(params))),
    }),
    setRoute(actuators),
    ...fieldRoutes(route, {
      path: onePath,
      thing: 'an actuator',
      fields: actuatorFields,
      update: (actor, params, changes) => actuators.update(actor, ...actuatorOf(params), changes),
    }),
  ];
}

const onePath = '/devices/:device_id/actuators/:actuator_id';

/** The actuator that a path names. */
const actuatorOf = (params: Params): [DeviceId, ActuatorId] => [
  deviceIdOf(params),
  parseActuatorId(params['actuator_id']),
];

function setRoute(actuators: Services['actuators']): Route {
  return route.put(`${onePath}/value`, {
    summary: 'Set an actuator to any JSON value; a text that is no JSON is itself',
    query: SettingQuery,
    body: bareBody(Type.Unknown(), (body) => readActuatorValue(bareJson(body))),
    done: 'Set: written and synced to disk.',
    errors: [...usualErrors, 'limit_reached'],
    perform: async ({ actor, params, query, body: value }) => {
      const actuator = actuatorOf(params);
      const forMs = query.for === undefined ? undefined : readSettingTime(query.for);
      const confirmed = readConfirmed(value);
      if (confirmed !== undefined) await actuators.confirm(actor, ...actuator, confirmed.value);
      else await actuators.setValue(actor, ...actuator, value, defined({ forMs }));
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

const typeBody = wordBody('value_type', actuatorValueTypes, (valueType) => ({ valueType }));

const actuatorFields: Fields<ActuatorChanges> = {
  name: textBody((name) => ({ name })),
  actuator_kind: textBody((kind) => ({ kind })),
  value_type: typeBody,
  actuator_value_type: typeBody,
  meta: metaBody,
};
