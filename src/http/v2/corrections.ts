import Type from 'typebox';
import type { Range } from '../../domain/datapoints/datapoint-store.ts';
import { invalid } from '../../domain/errors.ts';
import type { CorrectionId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { defined } from '../../lib/record.ts';
import {
  CorrectedItemsMessage,
  CorrectedMessage,
  CorrectionMessage,
  correctedToWire,
  correctionToWire,
  RemovedMessage,
  readItems,
  readValueParameter,
  removedToWire,
} from '../../wire/correction.ts';
import { Flag } from '../../wire/fields.ts';
import { json } from '../answer.ts';
import { jsonBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf, usualErrors } from '../route.ts';
import { rangeOf, rangeParameters, sensorOf } from './datapoints.ts';
import type { Services } from './services.ts';

const route = routesOf('Corrections');
const sensorPath = '/devices/:device_id/sensors/:sensor_id';
/** Without one of these more is taken away: an empty one is refused. */
const given = { minLength: 1 } as const;

const RemovalQuery = Type.Object({
  ...rangeParameters(given),
  all: Type.Optional(Flag('true: all there are, without a range.')),
  value: Type.Optional(
    Type.String({
      ...given,
      description: 'Only datapoints of this value, before calibration: JSON, or else a text.',
    }),
  ),
});

/** Taking datapoints away or putting them right, and undoing that [contract 10]. */
export function correctionRoutes({ corrections }: Services): readonly Route[] {
  return [
    removalRoute(corrections),
    route.patch(`${sensorPath}/values`, {
      summary: 'Put datapoints right: other values at the times of some',
      body: jsonBody(CorrectedItemsMessage, (body) => readItems(body as never), {
        bytesMax: limits.bodyBytesMax,
      }),
      answer: messageAnswer('What was put right; nothing fires.', CorrectedMessage),
      errors: [...usualErrors, 'limit_reached', 'too_large', 'rate_limited', 'storage_full'],
      handle: async ({ actor, params, body }) =>
        json(correctedToWire(await corrections.correct(actor, sensorOf(params), body))),
    }),
    route.get(`${sensorPath}/corrections`, {
      summary: 'List the corrections of a sensor, newest first',
      answer: messageAnswer('All that were not undone.', Type.Array(CorrectionMessage)),
      handle: async ({ actor, params }) =>
        json((await corrections.list(actor, sensorOf(params))).map(correctionToWire)),
    }),
    route.delete(`${sensorPath}/corrections/:correction_id`, {
      summary: 'Undo a correction: for 30 days, and the newest first where they overlap',
      done: 'Undone.',
      errors: [...usualErrors, 'blocked'],
      perform: ({ actor, params }) =>
        corrections.undo(actor, sensorOf(params), correctionIdOf(params)),
    }),
  ];
}

function removalRoute(corrections: Services['corrections']): Route {
  return route.delete(`${sensorPath}/values`, {
    summary: 'Take datapoints away; what was pushed is kept until that is final',
    query: RemovalQuery,
    answer: messageAnswer('How many were taken away; nothing fires.', RemovedMessage),
    errors: [...usualErrors, 'limit_reached', 'rate_limited', 'storage_full'],
    handle: async ({ actor, params, query }) => {
      const range: Range = defined(rangeOf(query));
      if (range.from === undefined && range.to === undefined && query.all !== true) {
        throw invalid('say which: dateFrom, dateTo, or all=true for every datapoint of the sensor');
      }
      const value = query.value === undefined ? undefined : readValueParameter(query.value);
      const outcome = await corrections.remove(actor, sensorOf(params), range, value);
      return json(removedToWire(outcome));
    },
  });
}

/** A malformed id is as an unknown one, where something is to be undone [contract 2]. */
const correctionIdOf = (params: Params): CorrectionId => params['correction_id'] as CorrectionId;
