import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Actor } from '../domain/actor.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { JsonValue } from '../lib/json.ts';
import { type Spelling, v2Spelling } from '../wire/spelling.ts';
import { type RawQuery, readQuery } from '../wire/validation.ts';
import { type Answer, send } from './answer.ts';
import type { Authenticate } from './authentication.ts';
import {
  type BareBody,
  type PushBody,
  readBareBody,
  readJsonBody,
  readOptionalBody,
  readPushBody,
} from './body.ts';
import { EdgeError, type EdgeErrorCode } from './errors.ts';
import { inStreamScope, readStreamBody, type StreamBody } from './stream-body.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * How a body is read. json: a message; push: datapoints; bare: one field's new value;
 * stream: piece by piece, by the handler, however long it is; optional: a JSON value, or nothing.
 */
export interface RouteBody {
  readonly kind: 'json' | 'push' | 'bare' | 'stream' | 'optional';
  readonly schema: TSchema;
  readonly bytesMax?: number;
  /** For the reference, where it is not the usual one of the kind. */
  readonly contentType?: string;
}

interface BodyOf {
  json: unknown;
  push: PushBody;
  bare: BareBody;
  stream: StreamBody;
  optional: JsonValue | undefined;
}

export interface RouteRequest {
  readonly actor: Actor;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly url: string;
  readonly accept: string | undefined;
  readonly authorization: string | undefined;
  /** For what protocols of others say in headers of their own. */
  readonly headers: IncomingHttpHeaders;
  /** The client's network address. */
  readonly address: string;
  /** The words of this version, for what is written and read by hand. */
  readonly spelling: Spelling;
}

/** What a route answers with when all goes well, for the reference. */
export interface RouteAnswer {
  readonly status: 200 | 204;
  readonly description: string;
  /** By content type. */
  readonly content?: Readonly<Record<string, TSchema>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route is data: mounting, the reference and version 1 all follow from it. */
export interface Route {
  readonly method: Method;
  /** With :parameters, below the version's prefix. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly query?: TObject;
  readonly body?: RouteBody;
  readonly answer: RouteAnswer;
  readonly errors: readonly (ErrorCode | EdgeErrorCode)[];
  /** A log-in reads its own credentials: a stale token beside them harms nobody. */
  readonly isLogin?: boolean;
  readonly handle: (request: RouteRequest) => Answer | Promise<Answer>;
}

type TypedRoute<Query extends TObject, Body extends RouteBody> = Omit<
  Route,
  'query' | 'body' | 'handle'
> & {
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (
    request: Omit<RouteRequest, 'query' | 'body'> & {
      readonly query: Static<Query>;
      readonly body: BodyOf[Body['kind']];
    },
  ) => Answer | Promise<Answer>;
};

/** A route whose handler knows the types of its query and body. */
export function defineRoute<Query extends TObject, Body extends RouteBody>(
  route: TypedRoute<Query, Body>,
): Route {
  return route as unknown as Route;
}

const bodyReaders = {
  json: readJsonBody,
  push: readPushBody,
  bare: readBareBody,
  stream: readStreamBody,
  optional: readOptionalBody,
} as const;

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Puts the routes below `prefix`; other methods of their paths are answered 405. */
export function mountRoutes(
  fastify: FastifyInstance,
  options: {
    readonly prefix: string;
    readonly routes: readonly Route[];
    readonly authenticate: Authenticate;
    readonly reporter: Reporter;
  },
): void {
  const { prefix, routes } = options;
  for (const route of routes) {
    if (route.body?.kind !== 'stream') mountRoute(fastify, route, options);
    else inStreamScope(fastify, (scope) => mountRoute(scope, route, options));
  }
  for (const [path, known] of Map.groupBy(routes, (route) => route.path)) {
    refuseOtherMethods(
      fastify,
      prefix + path,
      known.map((route) => route.method),
    );
  }
}

function mountRoute(
  fastify: FastifyInstance,
  route: Route,
  options: {
    readonly prefix: string;
    readonly authenticate: Authenticate;
    readonly reporter: Reporter;
  },
): void {
  const { authenticate, reporter } = options;
  const url = options.prefix + route.path;
  const respond = createResponder(route, authenticate);

  fastify.route({
    method: route.method,
    url,
    bodyLimit: route.body?.bytesMax ?? limits.bodyBytesMax,
    config: { label: url },
    // Sends for itself instead of answering a promise: one less for Fastify to watch.
    handler: (request: FastifyRequest, reply: FastifyReply) => {
      const startedAt = performance.now();
      const finish = (answer: Answer) => {
        const status = send(answer, request.headers.accept, reply);
        const durationMs = performance.now() - startedAt;
        reporter.requestAnswered({ method: route.method, route: url, status, durationMs });
      };
      const answer = respond(request);
      if (answer instanceof Promise) answer.then(finish).catch((error) => reply.send(error));
      else finish(answer);
    },
  });
}

/** Reads the request by the route's data and asks its handler. */
function createResponder(
  route: Route,
  authenticate: Authenticate,
): (request: FastifyRequest) => Answer | Promise<Answer> {
  const readBody = route.body === undefined ? undefined : bodyReaders[route.body.kind];

  const answerTo = (request: FastifyRequest, actor: Actor) =>
    route.handle({
      actor,
      params: paramsOf(request),
      query:
        route.query === undefined ? undefined : readQuery(route.query, request.query as RawQuery),
      body: readBody?.(request.body, request.headers['content-type']),
      url: request.url,
      accept: request.headers.accept,
      authorization: request.headers.authorization,
      headers: request.headers,
      address: request.ip,
      spelling: v2Spelling,
    });

  return (request) => {
    const actor = authenticate(route.isLogin === true ? undefined : request.headers.authorization);
    // Most tokens were looked up a moment ago: then there is nothing to wait for.
    if (!(actor instanceof Promise)) return answerTo(request, actor);
    return actor.then((known) => answerTo(request, known));
  };
}

/**
 * A client that asked for an id as JSON may use it with its quotes, as it came; no id holds any.
 */
function paramsOf({ params, url }: FastifyRequest): Readonly<Record<string, string>> {
  const known = params as Readonly<Record<string, string>>;
  if (!url.includes('%22')) return known;
  const unquoted = Object.entries(known).map(([name, value]) => [
    name,
    value.replace(/^"(.*)"$/, '$1'),
  ]);
  return Object.fromEntries(unquoted);
}

function refuseOtherMethods(fastify: FastifyInstance, url: string, known: readonly Method[]): void {
  const allowed: HTTPMethods[] = known.includes('GET') ? ['HEAD', ...known] : [...known];
  const allow = [...allowed, 'OPTIONS'].join(', ');
  const others: HTTPMethods[] = [...methods, 'HEAD' as const].filter(
    (method) => !allowed.includes(method),
  );
  fastify.route({
    method: others,
    url,
    handler: (request) => {
      const message = `${request.method} is not possible here: use ${allow}`;
      throw new EdgeError('method_not_allowed', message, { allow });
    },
  });
}
