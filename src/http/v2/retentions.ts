import type { RetentionPlace } from '../../domain/datapoints/retention/retentions.ts';
import {
  NewRetentionMessage,
  RetentionMessage,
  readRetention,
  retentionToWire,
} from '../../wire/retention.ts';
import { json } from '../answer.ts';
import { jsonBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf, usualErrors } from '../route.ts';
import { sensorOf } from './datapoints.ts';
import { deviceIdOf } from './devices.ts';
import type { Services } from './services.ts';

const route = routesOf('Retention');

const places: readonly {
  readonly path: string;
  readonly what: string;
  readonly of: (params: Params) => RetentionPlace;
}[] = [
  {
    path: '/devices/:device_id/sensors/:sensor_id/retention',
    what: 'a sensor',
    of: (params) => ({ kind: 'sensor', ...sensorOf(params) }),
  },
  {
    path: '/devices/:device_id/retention',
    what: 'a device',
    of: (params) => ({ kind: 'device', deviceId: deviceIdOf(params) }),
  },
  { path: '/users/me/retention', what: 'all one’s devices', of: () => ({ kind: 'me' }) },
];

/** How long datapoints are kept [contract 10]. */
export function retentionRoutes({ retentions }: Services): readonly Route[] {
  return places.flatMap(({ path, what, of }) => [
    route.get(path, {
      summary: `Read for how long datapoints of ${what} are kept, and what goes next`,
      answer: messageAnswer('What holds, wherever it is set.', RetentionMessage),
      errors: usualErrors,
      handle: async ({ actor, params }) =>
        json(retentionToWire(await retentions.find(actor, of(params)))),
    }),
    route.put(path, {
      summary: `Set for how long datapoints of ${what} are kept`,
      body: jsonBody(NewRetentionMessage, readRetention),
      done: 'Set. What is older goes later, in small steps.',
      errors: usualErrors,
      perform: ({ actor, params, body }) => retentions.set(actor, of(params), body),
    }),
    route.delete(path, {
      summary: `Take away what is set for ${what}: what is set further away holds again`,
      done: 'Taken away, or it was not set.',
      errors: usualErrors,
      perform: ({ actor, params }) => retentions.set(actor, of(params), undefined),
    }),
  ]);
}
