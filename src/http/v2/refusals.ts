import Type from 'typebox';
import type { RefusedPushes } from '../../domain/datapoints/refused-pushes.ts';
import { RefusalMessage, refusalToWire } from '../../wire/refusal.ts';
import { json } from '../answer.ts';
import { defineRoute, messageAnswer, type Route } from '../route.ts';
import { deviceIdOf } from './devices.ts';

/** Why nothing arrives: what was refused of late. */
export function refusalsRoute(refusedPushes: RefusedPushes): Route {
  return defineRoute({
    method: 'GET',
    path: '/devices/:device_id/refusals',
    tag: 'Devices',
    summary: 'See which pushes to a device were refused of late, and why (its owner)',
    answer: messageAnswer(
      'Those of a day, newest first, since the start of the service; what is alike is counted. ' +
        'With them what its owner sent to an id that is nearly this one, or to none.',
      Type.Array(RefusalMessage),
    ),
    errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
    handle: async ({ actor, params }) =>
      json((await refusedPushes.list(actor, deviceIdOf(params))).map(refusalToWire)),
  });
}
