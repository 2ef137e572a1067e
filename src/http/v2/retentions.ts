import type { RetentionPlace, Retentions } from '../../domain/datapoints/retention/retentions.ts';
import {
  NewRetentionMessage,
  RetentionMessage,
  readRetention,
  retentionToWire,
} from '../../wire/retention.ts';
import { json } from '../answer.ts';
import { defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';
import { deviceIdOf } from './devices.ts';
import { sensorIdOf } from './sensors.ts';

const tag = 'Retention';

type Params = Readonly<Record<string, string>>;

interface Place {
  readonly path: string;
  readonly what: string;
  readonly of: (params: Params) => RetentionPlace;
}

const places: readonly Place[] = [
  {
    path: '/devices/:device_id/sensors/:sensor_id/retention',
    what: 'a sensor',
    of: (params) => ({
      kind: 'sensor',
      deviceId: deviceIdOf(params),
      sensorId: sensorIdOf(params),
    }),
  },
  {
    path: '/devices/:device_id/retention',
    what: 'a device',
    of: (params) => ({ kind: 'device', deviceId: deviceIdOf(params) }),
  },
  { path: '/users/me/retention', what: 'all one’s devices', of: () => ({ kind: 'me' }) },
];

const refusals = ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'unavailable'] as const;

/** How long datapoints are kept [contract 10]. */
export function retentionRoutes(retentions: Retentions): readonly Route[] {
  return places.flatMap(({ path, what, of }) => [
    defineRoute({
      method: 'GET',
      path,
      tag,
      summary: `Read for how long datapoints of ${what} are kept, and what goes next`,
      answer: messageAnswer('What holds, wherever it is set.', RetentionMessage),
      errors: [...refusals, 'rate_limited'],
      handle: async ({ actor, params }) =>
        json(retentionToWire(await retentions.find(actor, of(params)))),
    }),
    defineCommand({
      method: 'PUT',
      path,
      tag,
      summary: `Set for how long datapoints of ${what} are kept`,
      body: jsonBody(NewRetentionMessage, readRetention),
      done: 'Set. What is older goes later, in small steps.',
      errors: refusals,
      perform: ({ actor, params, body }) => retentions.set(actor, of(params), body),
    }),
    defineCommand({
      method: 'DELETE',
      path,
      tag,
      summary: `Take away what is set for ${what}: what is set further away holds again`,
      done: 'Taken away, or it was not set.',
      errors: refusals,
      perform: ({ actor, params }) => retentions.set(actor, of(params), undefined),
    }),
  ]);
}
