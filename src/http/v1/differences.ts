import Type from 'typebox';
import { DomainError } from '../../domain/errors.ts';
import { parseDeviceId } from '../../domain/ids.ts';
import { csvHeaderWithoutIds } from '../../wire/csv.ts';
import { DeviceMessage, NewDeviceMessage } from '../../wire/device.ts';
import { type Answer, csvType, jsonType, text, textType } from '../answer.ts';
import { EdgeError } from '../errors.ts';
import type { Route, RouteAnswer, RouteRequest } from '../route.ts';
import { wantsCsv } from '../v2/datapoint-answer.ts';
import type { Services } from '../v2/services.ts';

const emptyFields: ReadonlyMap<unknown, readonly string[]> = new Map(
  [DeviceMessage, NewDeviceMessage].map(({ properties }) => [
    properties,
    ['gateway_id', 'name', 'visibility'],
  ]),
);

/** Fields that are "" in version 1 where version 2 leaves them out, by a schema's properties. */
export const emptyFieldsOf = (properties: unknown): readonly string[] =>
  emptyFields.get(properties) ?? [];

/** The routes of version 2 with what is different in version 1, besides the words [contract 9]. */
export function withDifferences(routes: readonly Route[], services: Services): readonly Route[] {
  return routes.flatMap((route) => {
    const different = withOwnSuccess(withOwnRefusals(route, services));
    // Version 1 had one kind of thing with permissions.
    return route.path === '/auth/permissions/devices'
      ? [different, { ...different, path: '/auth/permissions' }]
      : [different];
  });
}

function withOwnRefusals(route: Route, services: Services): Route {
  if (route.method === 'POST' && /^\/socials(\/batch)?$/.test(route.path)) {
    return withUnknownRecipients(route);
  }
  if (route.method === 'GET' && /\/sensors\/:sensor_id\/values?$/.test(route.path)) {
    return withUnknownMeasurements(route, services);
  }
  return route;
}

/** The route, with another end where something is not found. */
const whereNotFound = (
  route: Route,
  end: (request: RouteRequest, reason: DomainError) => Promise<Answer>,
): Route => ({
  ...route,
  handle: async (request) => {
    try {
      return await route.handle(request);
    } catch (reason) {
      if (reason instanceof DomainError && reason.code === 'not_found') return end(request, reason);
      throw reason;
    }
  },
});

/** A social to an unknown recipient is answered 500, as ever: clients wait for it [contract 9]. */
const withUnknownRecipients = (route: Route): Route => ({
  ...whereNotFound(route, async (_, { message }) => {
    throw new EdgeError('unknown_recipient', message);
  }),
  errors: [...route.errors.filter((code) => code !== 'not_found'), 'unknown_recipient'],
});

/** A measurement that a sensor does not have has no values; a missing sensor is still 404. */
const withUnknownMeasurements = (route: Route, { devices }: Services): Route =>
  whereNotFound(route, async (request) => {
    // An actor who may not view the data was refused before the measurement was searched.
    await devices.get(request.actor, parseDeviceId(request.params['device_id']));
    return nothing(request);
  });

function nothing({ query, accept }: RouteRequest): Answer {
  const { format } = query as { readonly format?: 'json' | 'csv' };
  const headers = { 'x-total-count': '0' };
  return wantsCsv(format, accept)
    ? text(csvType, csvHeaderWithoutIds, headers)
    : text(jsonType, '[]', headers);
}

/** 200 for every success, and bare texts raw whatever Accept says [contract 2]. */
function withOwnSuccess(route: Route): Route {
  const json = route.answer.content?.['application/json'];
  const isText = json !== undefined && 'type' in json && json.type === 'string';
  return {
    ...route,
    answer: { ...successData(route.answer), ...(isText && { content: rawText }) },
    handle: async (request) => success(await route.handle(request), isText),
  };
}

const rawText = { 'text/plain': Type.String() };

function success(answer: Answer, isText: boolean): Answer {
  if (answer.kind === 'empty') return { ...answer, status: 200 };
  if (answer.kind === 'bare') return text(textType, answer.text, answer.headers);
  if (answer.kind === 'json' && isText) {
    return text(textType, String(answer.message), answer.headers);
  }
  return answer;
}

function successData(answer: RouteAnswer): RouteAnswer {
  const description = answer.description.replace(/; a JSON string when .*$/, '.');
  return { ...answer, status: 200, description };
}
