import type { FastifyInstance } from 'fastify';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../lib/log.ts';
import { jsonType, textType } from '../answer.ts';
import type { Authenticate } from '../authentication.ts';
import { answerErrors, type Refuse, refuseAsUsual } from '../error-handler.ts';
import type { EdgeErrorCode } from '../errors.ts';
import { type MountOptions, mountRoutes, type Route } from '../route.ts';
import {
  acceptingTokens,
  influxRoute,
  influxV1Route,
  influxV3Route,
  mountInfluxQueries,
} from './influx-routes.ts';
import { createWriteLines } from './line-writes.ts';
import { type ChannelParts, channelRoutes } from './thing-speak-channels.ts';
import { thingSpeakRoutes } from './thing-speak-routes.ts';

/** The services behind the compatibility endpoints. */
export type EndpointServices = Omit<ChannelParts, 'authenticate'>;

/** The routes of other protocols that are below /api/v2, for the reference. */
export function compatibleV2Routes(services: EndpointServices): readonly Route[] {
  return [influxRoute(createWriteLines(services))];
}

/** Compatibility endpoints for protocols of other services, on the one ingest path. */
export function mountCompatibilityEndpoints(
  fastify: FastifyInstance,
  options: Omit<MountOptions, 'prefix' | 'routes'> & {
    readonly services: EndpointServices;
    readonly log: Log;
  },
): void {
  const { services, reporter, log, authenticate } = options;
  const tokens = acceptingTokens(authenticate);
  const refusing = (refuse: Refuse, fill: (scope: FastifyInstance) => void): void => {
    fastify.register((scope, _options, done) => {
      answerErrors(scope, { reporter, log, refuse });
      fill(scope);
      done();
    });
  };
  const mount = (
    routes: readonly Route[],
    refuse: Refuse,
    authenticate: Authenticate,
    prefix = '',
  ): void =>
    refusing(refuse, (scope) => mountRoutes(scope, { ...options, prefix, routes, authenticate }));
  const writeLines = createWriteLines(services);
  mount(compatibleV2Routes(services), refuseForInflux, tokens, '/api/v2');
  mount([influxV1Route(writeLines, authenticate)], refuseForInfluxV1, tokens);
  mount([influxV3Route(writeLines)], refuseForInflux, tokens);
  refusing(refuseForInfluxV1, (scope) => mountInfluxQueries(scope, tokens));
  const parts = { ...services, authenticate };
  const shaped = thingSpeakRoutes(parts, ['/update.json', '/update.xml']);
  mount(thingSpeakRoutes(parts, ['/update']), refuseWithZero, authenticate);
  mount([...shaped, ...channelRoutes(parts)], refuseAsUsual, authenticate);
}

const influxCodes: Partial<Readonly<Record<ErrorCode | EdgeErrorCode, string>>> = {
  unauthenticated: 'unauthorized',
  not_found: 'not found',
  too_large: 'request too large',
  method_not_allowed: 'method not allowed',
};

/** Clients of InfluxDB 2 log `message`; those of this API read the other two. */
const refuseForInflux: Refuse = ({ code, body }) => {
  const { error, description } = body;
  const words = { error, description, code: influxCodes[code] ?? code, message: description };
  return { type: jsonType, text: JSON.stringify(words) };
};

/** Clients of InfluxDB 1 log `error`. */
const refuseForInfluxV1: Refuse = ({ code, body }) => {
  const words = { error: body.description, code, message: body.description };
  return { type: jsonType, text: JSON.stringify(words) };
};

/** Sketches expect the number of an entry. */
const refuseWithZero: Refuse = () => ({ type: textType, text: '0' });
