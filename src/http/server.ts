import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Budgets } from '../domain/budgets/budgets.ts';
import { DomainError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { ConnectionGuard } from '../lib/connection-guard.ts';
import type { Log } from '../lib/log.ts';
import { defined } from '../lib/record.ts';
import { createFairSlices, createGuestSlices } from '../lib/scheduling/fair-slices.ts';
import type { TlsSource } from '../lib/tls-source.ts';
import { readForm } from '../wire/thing-speak.ts';
import { jsonType } from './answer.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { commonHeaders, fileHeaders } from './answer-headers.ts';
import { createAuthenticate, createClients } from './authentication.ts';
import { readBodiesAsBytes } from './body-reader.ts';
import { refuseBrokenRequest } from './broken-request.ts';
import { mountCompatibilityEndpoints } from './compatible/endpoints.ts';
import { createCompressor } from './compression.ts';
import { assetsPath, type DashboardSettings, mountDashboard } from './dashboard/pages.ts';
import { answerErrors, refuseAsUsual } from './error-handler.ts';
import { EdgeError, errorAnswer } from './errors.ts';
import { createFastPath, type FastPathOptions } from './fast-path/fast-path.ts';
import { nothingAt } from './lost-paths.ts';
import { mountOperations, type OperationsOptions } from './operations.ts';
import { mountReference } from './reference.ts';
import { createNoteRefusal } from './refused-pushes.ts';
import { requestLimits } from './request-limits.ts';
import { type Edge, mountRoutes } from './route.ts';
import { type ProtocolHandler, sharePort } from './shared-port.ts';
import { createSite } from './site.ts';
import { v1Routes } from './v1/index.ts';
import { createV1Paths } from './v1/paths.ts';
import { v2Routes } from './v2/index.ts';
import type { Services } from './v2/services.ts';

/** How long a peer may take, in milliseconds. */
export interface HttpTimeouts {
  /** From the first byte of TLS to the end of its handshake. */
  readonly handshakeMs: number;
  /** For the head of a request, from the accept or its first byte. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveMs: number;
  /** While nothing of an answer is read. */
  readonly unreadMs: number;
}

export const usualTimeouts: HttpTimeouts = {
  handshakeMs: limits.tlsHandshakeMs,
  headersMs: limits.requestHeadersMs,
  requestMs: limits.requestMs,
  keepAliveMs: limits.keepAliveMs,
  unreadMs: limits.unreadMs,
};

export interface HttpServerOptions extends OperationsOptions {
  readonly services: Services;
  readonly tokenLifeSeconds: number;
  readonly v1TokenLifeSeconds: number;
  readonly version: string;
  readonly dashboard: Omit<DashboardSettings, 'version' | 'tokenLifeSeconds' | 'signup'>;
  /** Where the built web app is; undefined: its usual place. */
  readonly dashboardFolder?: string | undefined;
  readonly tls?: TlsSource;
  /** Another protocol on the same port. */
  readonly protocolHandler: ProtocolHandler;
  /** Whether plain requests of hot routes take the fast path, on such a port. */
  readonly hasFastPath: boolean;
  /** Proxies that are believed about the address of a client. */
  readonly isTrustedProxy: (address: string) => boolean;
  /** Where people find the service; absent: at whatever host they ask for. */
  readonly publicUrl?: string;
  /** Watches the connections of all ports. */
  readonly connections: ConnectionGuard;
  /** Absent: the usual ones. */
  readonly timeouts?: HttpTimeouts | undefined;
  /** Finds the words for a call that was picked up; absent: no provider asks. */
  readonly answerCall?: (callId: string) => Promise<string>;
  readonly budgets: Budgets;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** The server before and after it listens. */
export type HttpServer = FastifyInstance;

/** The HTTP server, ready to listen: the API below /api, the reference, the operator's paths. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { services, reporter, log } = options;
  const authenticate = createAuthenticate(services.sessions);
  const clients = createClients(options.isTrustedProxy);
  const site = createSite(defined({ clients, publicUrl: options.publicUrl }));
  const ofV1 = v1Routes(services, options.v1TokenLifeSeconds, site);
  const mounted = [
    { prefix: '/api/v2', routes: v2Routes(services, options.tokenLifeSeconds, site) },
    { prefix: '/api/v1', routes: ofV1 },
  ];
  const fastify = createFastify(options, createV1Paths(ofV1));
  const partialBytes = options.budgets.of('partial_bytes');
  const turns = createFairSlices({ turnMs: limits.turnMs });
  const guestTurns = createGuestSlices(requestLimits.guestMs);
  const room = createAnswerBudget(fastify, {
    budget: options.budgets.of('answer_bytes'),
    ...{ authenticate, clients, unreadMs: (options.timeouts ?? usualTimeouts).unreadMs },
  });
  readBodiesAsBytes(fastify, { room: partialBytes, identify: room.identify });
  wantHost(fastify);
  passEmptyContentTypes(fastify);
  allowOrigins(fastify);
  const onRefused = createNoteRefusal(services.refusedPushes, authenticate, clients);
  answerErrors(fastify, { reporter, log, refuse: refuseAsUsual, onRefused });
  refuseUnknownPaths(fastify);
  const edge = { authenticate, clients, room, partialBytes, turns, guestTurns, reporter };
  const compressor = createCompressor();
  for (const version of mounted) mountRoutes(fastify, { ...version, ...edge, compressor });
  acceptConnections(fastify, options, { ...edge, compressor, onRefused, mounted });
  mountCompatibilityEndpoints(fastify, { services, ...edge, log });
  mountOperations(fastify, { ...options, authenticate });
  if (options.answerCall !== undefined) mountCallAnswers(fastify, options.answerCall);
  await mountReference(fastify);
  await mountDashboard(fastify, {
    settings: {
      ...options.dashboard,
      version: options.version,
      tokenLifeSeconds: options.tokenLifeSeconds,
    },
    signUpNow: () => services.settings.current().signUp,
    folder: options.dashboardFolder,
    isHttpsOnly: options.publicUrl?.startsWith('https:') === true,
  });
  return fastify;
}

/** Opens the port for all protocols on it. */
function acceptConnections(
  fastify: FastifyInstance,
  {
    protocolHandler,
    connections,
    clock,
    log,
    hasFastPath,
    budgets: { waiting },
    timeouts = usualTimeouts,
  }: HttpServerOptions,
  edge: Edge & Pick<FastPathOptions, 'onRefused' | 'mounted'>,
): void {
  const server: Server = fastify.server;
  // Devices set their clocks by Date, which node:http takes from the machine.
  server.prependListener('request', (_request, answer: ServerResponse) => {
    if (clock.aheadMs() > 0) answer.setHeader('date', new Date(clock.now()).toUTCString());
  });
  const { headersMs, requestMs, keepAliveMs } = timeouts;
  const fastPath: FastPathOptions = {
    ...{ ...edge, waiting, clock, log },
    timeouts: {
      ...{ requestMs, keepAliveMs, checkMs: checkMsOf(timeouts) },
      keepAliveBufferMs: server.keepAliveTimeoutBuffer,
    },
  };
  const { clients, room } = edge;
  const port = sharePort(server, {
    ...{ protocolHandler, headersMs, checkMs: checkMsOf(timeouts), waiting, clients },
    ...{ identify: room.identify, payerOf: room.payerOf },
    ...(hasFastPath && { openFastPath: (node) => createFastPath(fastPath, node) }),
  });
  fastify.addHook('preClose', async () => port.close());
  connections.watch(server);
}

/** Node checks for slow connections every 30 s, which would be added to every time-out. */
const checkMsOf = ({ headersMs }: HttpTimeouts): number =>
  Math.min(limits.connectionsCheckMs, headersMs);

/** `onePath` gives the paths of version 1, which may be written in several ways, one form. */
function createFastify(
  options: HttpServerOptions,
  onePath: (url: string) => string,
): FastifyInstance {
  const timeouts = options.timeouts ?? usualTimeouts;
  // Node would refuse a request without a Host unseen by us, and a broken one behind it twice.
  const ofServer = {
    connectionsCheckingInterval: checkMsOf(timeouts),
    highWaterMark: requestLimits.readAheadBytes,
    requireHostHeader: false,
  };
  const settings = {
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
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
    clientErrorHandler: refuseBrokenRequest,
    schemaController: { compilersFactory: withoutSchemas },
  } satisfies FastifyServerOptions;
  const { tls } = options;
  if (tls === undefined) return bounded(Fastify({ ...settings, http: ofServer }), timeouts);
  const fastify = Fastify({
    ...settings,
    https: {
      ...{ ...tls.pair, allowHalfOpen: true },
      // Gateways name MQTT already in the handshake, on the port of HTTP; those of AWS their way.
      ALPNProtocols: ['http/1.1', 'http/1.0', 'mqtt', 'x-amzn-mqtt-ca'],
      ...{ handshakeTimeout: timeouts.handshakeMs, ...ofServer },
    },
  });
  const server: TlsServer = fastify.server;
  tls.onChange((pair) => server.setSecureContext(pair));
  // The same instance whatever its transport; Fastify types the two apart.
  return bounded(fastify as unknown as FastifyInstance, timeouts);
}

/**
 * No route gives Fastify a schema: what checks requests and writes answers is ours. Its own
 * compilers, which it loads unless it is given others, take 4 MB.
 */
const withoutSchemas = { buildValidator: noCompiler, buildSerializer: noCompiler };

function noCompiler(): never {
  throw new Error('no route tells Fastify a schema');
}

function bounded(fastify: FastifyInstance, { headersMs }: HttpTimeouts): FastifyInstance {
  const server: Server = fastify.server;
  server.headersTimeout = headersMs;
  // A client that has ended its side of the connection still gets the answers.
  Object.assign(server, { httpAllowHalfOpen: true });
  return fastify;
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

/** A content type that is empty says as much as none. */
function passEmptyContentTypes(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.headers['content-type'] === '') delete raw.headers['content-type'];
    done();
  });
}

/** A request of HTTP/1.1 names the host that it wants [RFC 9112 3.2]. */
function wantHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const isNamed = raw.headers.host !== undefined || raw.httpVersion !== '1.1';
    done(isNamed ? undefined : new DomainError('invalid', 'the header Host is missing'));
  });
}

/** Any web page may call the API: credentials travel in a header, never in a cookie. */
function allowOrigins(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    reply.headers(request.url.startsWith(assetsPath) ? fileHeaders : commonHeaders);
    done();
  });
  fastify.options('/*', (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': knownMethods.join(', '),
        'access-control-allow-headers':
          'Authorization, Content-Type, If-None-Match, Access-Control-Allow-Origin',
        'access-control-max-age': '86400',
      })
      .code(204)
      .send(),
  );
}

function refuseUnknownPaths(fastify: FastifyInstance): void {
  fastify.setNotFoundHandler((request) => {
    if (!knownMethods.includes(request.method)) {
      const allow = knownMethods.join(', ');
      const message = `${request.method} is not used here: use ${allow}`;
      throw new EdgeError('method_not_allowed', message, { allow });
    }
    throw nothingAt(request.url);
  });
}

/** Where a provider of calls asks what to say. */
const callAnswersPath = '/callbacks/africastalking/voice';

/**
 * Answers what a call that was just picked up shall say. The provider has no token: the call's id,
 * 256 bits that only the provider was given, is the proof.
 */
function mountCallAnswers(
  fastify: FastifyInstance,
  answerCall: (callId: string) => Promise<string>,
): void {
  fastify.post(callAnswersPath, async (request, reply) => {
    const form = readForm(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    const callId = form.get('clientRequestId') ?? '';
    // The last question of a call, with isActive=0, only reports that it ended.
    const words = form.get('isActive') === '0' ? '' : await answerCall(callId);
    return reply.type('application/xml').header('cache-control', 'no-store').send(words);
  });
  fastify.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: callAnswersPath,
    handler: () => {
      throw new EdgeError('method_not_allowed', 'use POST here', { allow: 'POST' });
    },
  });
}
