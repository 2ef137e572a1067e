import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { notFound } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { Log } from '../lib/log.ts';
import type { TlsSource } from '../lib/tls-source.ts';
import { commonHeaders, jsonType } from './answer.ts';
import { createAuthenticate } from './authentication.ts';
import { createBrokenRequests } from './broken-request.ts';
import { mountCallAnswers } from './call-answers.ts';
import { compatibleV2Routes, mountCompatibleDoors } from './compatible/doors.ts';
import { type DashboardSettings, mountDashboard } from './dashboard/pages.ts';
import { EdgeError, errorAnswer } from './errors.ts';
import { createVersionDocument } from './openapi.ts';
import { mountOperations } from './operations.ts';
import { mountReference } from './reference.ts';
import { mountRoutes } from './route.ts';
import { type PortGuest, sharePort } from './shared-port.ts';
import { textToV1 } from './v1/dictionary.ts';
import { v1Routes } from './v1/index.ts';
import { createV1Paths } from './v1/paths.ts';
import { type Services, v2Routes } from './v2/index.ts';

export interface HttpServerOptions {
  readonly services: Services;
  readonly tokenLifeSeconds: number;
  readonly v1TokenLifeSeconds: number;
  readonly version: string;
  readonly dashboard: Omit<DashboardSettings, 'version' | 'tokenLifeSeconds'>;
  /** Where the built web app is; undefined: its usual place. */
  readonly dashboardFolder?: string | undefined;
  readonly tls?: TlsSource;
  /** Another protocol on the same port. */
  readonly guest?: PortGuest;
  /** What a call that was picked up shall say; absent: no provider asks. */
  readonly answerCall?: (callId: string) => string;
  readonly ping: () => Promise<void>;
  readonly metricsText: () => Promise<string>;
  readonly metricsContentType: string;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** The server before and after it listens. */
export type HttpServer = FastifyInstance;

/** The HTTP door, ready to listen: the API below /api, the reference, the operator's paths. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { services, reporter, log } = options;
  const authenticate = createAuthenticate(services.sessions);
  const routes = {
    v2: v2Routes(services, options.tokenLifeSeconds),
    v1: v1Routes(services, options.v1TokenLifeSeconds),
  };
  const fastify = createFastify(options, createV1Paths(routes.v1));
  if (options.guest !== undefined) {
    const port = sharePort(fastify.server, options.guest);
    fastify.addHook('preClose', async () => port.close());
  }

  readBodiesAsBytes(fastify);
  allowOrigins(fastify);
  answerErrors(fastify, { reporter, log });
  mountRoutes(fastify, { prefix: '/api/v2', routes: routes.v2, authenticate, reporter });
  mountRoutes(fastify, { prefix: '/api/v1', routes: routes.v1, authenticate, reporter });
  mountCompatibleDoors(fastify, { services, authenticate, reporter, log });
  mountOperations(fastify, { ...options, authenticate });
  if (options.answerCall !== undefined) mountCallAnswers(fastify, options.answerCall);
  await mountReference(fastify, {
    v2: () =>
      createVersionDocument('v2', {
        version: options.version,
        routes: [...routes.v2, ...compatibleV2Routes(services)],
      }),
    v1: () =>
      createVersionDocument('v1', {
        ...{ version: options.version, routes: routes.v1, inWords: textToV1 },
      }),
  });
  await mountDashboard(fastify, {
    settings: {
      ...options.dashboard,
      version: options.version,
      tokenLifeSeconds: options.tokenLifeSeconds,
    },
    folder: options.dashboardFolder,
  });
  return fastify;
}

/** `onePath` gives the paths of version 1, which may be written in several ways, one form. */
function createFastify(
  options: HttpServerOptions,
  onePath: (url: string) => string,
): FastifyInstance {
  const brokenRequests = createBrokenRequests();
  const settings = {
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    rewriteUrl: (request) => onePath(request.url ?? '/'),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      // An id of 256 characters, each percent-encoded.
      maxParamLength: 3 * limits.idCharactersMax,
    },
    frameworkErrors: (error, _request, reply) => {
      const { status, body } = errorAnswer(error, options.log);
      const raw: ServerResponse = reply.raw;
      raw.writeHead(status, { 'content-type': jsonType }).end(JSON.stringify(body));
    },
    clientErrorHandler: brokenRequests.refuse,
  } satisfies FastifyServerOptions;
  const { tls } = options;
  if (tls === undefined) {
    const fastify = Fastify(settings);
    brokenRequests.watch(fastify.server);
    return bounded(fastify);
  }
  const fastify = Fastify({ ...settings, https: tls.pair });
  const server: TlsServer = fastify.server;
  tls.onChange((pair) => server.setSecureContext(pair));
  // The same instance whatever its transport; Fastify types the two apart.
  const plain = fastify as unknown as FastifyInstance;
  brokenRequests.watch(plain.server);
  return bounded(plain);
}

function bounded(fastify: FastifyInstance): FastifyInstance {
  const server: Server = fastify.server;
  server.headersTimeout = limits.requestHeadersMs;
  server.maxConnections = limits.connectionsMax;
  return fastify;
}

/** Bodies reach the routes as bytes: each route says how they are to be read. */
function readBodiesAsBytes(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  // The two usual types by name: Fastify finds them without taking the header apart.
  for (const type of ['application/json', 'text/plain', '*']) {
    fastify.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body);
    });
  }
}

const knownMethods: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];

/** Any web page may call the API: credentials travel in a header, never in a cookie. */
function allowOrigins(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(commonHeaders);
    done();
  });
  fastify.options('/*', (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': knownMethods.join(', '),
        'access-control-allow-headers': 'Authorization, Content-Type, Access-Control-Allow-Origin',
        'access-control-max-age': '86400',
      })
      .code(204)
      .send(),
  );
}

function answerErrors(
  fastify: FastifyInstance,
  { reporter, log }: { readonly reporter: Reporter; readonly log: Log },
): void {
  fastify.setErrorHandler((error, request, reply) => {
    const { code, status, headers, body } = errorAnswer(error, log);
    reporter.requestRefused(code);
    const route = request.routeOptions.url ?? 'unknown';
    const durationMs = reply.elapsedTime;
    reporter.requestAnswered({ method: request.method, route, status, durationMs });
    return reply
      .code(status)
      .headers({ ...headers, 'content-type': jsonType })
      .send(JSON.stringify(body));
  });
  fastify.setNotFoundHandler((request) => {
    if (!knownMethods.includes(request.method)) {
      const allow = knownMethods.join(', ');
      throw new EdgeError(
        'method_not_allowed',
        `${request.method} is not used here: use ${allow}`,
        {
          allow,
        },
      );
    }
    const [path = ''] = request.url.split('?', 1);
    throw notFound(`there is nothing at ${path.slice(0, 200)}: see /docs`);
  });
}
