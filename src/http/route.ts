import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Actor } from '../domain/actor.ts';
import type { Budget } from '../domain/budgets/budget.ts';
import { payerOf } from '../domain/budgets/budget.ts';
import { type ErrorCode, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import { holdForLogin } from '../lib/connection-guard.ts';
import { yieldToEventLoop } from '../lib/event-loop.ts';
import { paidBy } from '../lib/paid-work.ts';
import type { FairSlices } from '../lib/scheduling/fair-slices.ts';
import type { Wire } from '../wire/fields.ts';
import { type Spelling, v2Spelling } from '../wire/spelling.ts';
import { type RawQuery, readQuery } from '../wire/validation.ts';
import {
  type Answer,
  done,
  type EmptyAnswer,
  type MessageAnswer,
  type StreamAnswer,
  send,
  type TextAnswer,
} from './answer.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { readOptionsOf } from './answer-headers.ts';
import type { Client, Clients, RequestSource } from './authentication.ts';
import { type Authenticate, importing } from './authentication.ts';
import type { ReadBody, RouteBody } from './body.ts';
import { inStreamScope } from './body-reader.ts';
import type { Compressor } from './compression.ts';
import { EdgeError, type EdgeErrorCode, usualErrorsOf } from './errors.ts';
import { mayBeLedBackTo, requireNoTrailingSlash } from './leading-back.ts';

/** The parameters of a path, by their names. */
export type Params = Readonly<Record<string, string>>;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

export interface RouteRequest<Query = unknown, Body = unknown> {
  readonly actor: Actor;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly url: string;
  readonly accept: string | undefined;
  readonly authorization: string | undefined;
  /** For what protocols of others say in headers of their own. */
  readonly headers: IncomingHttpHeaders;
  /** The client's network address. */
  readonly address: string;
  /** For what depends on the connection. */
  readonly raw: RequestSource;
  /** The words of this version, for what is written and read by hand. */
  readonly spelling: Spelling;
}

/** The success answer of a route, for the reference. */
export interface RouteAnswer {
  readonly status: 200 | 204;
  readonly description: string;
  /** By content type. */
  readonly content?: Readonly<Record<string, TSchema>>;
  /** Whether it may also be an answer without a body. */
  readonly isOptional?: boolean;
  /** Another success answer, with 200, where `status` is not 200. */
  readonly alsoOk?: Pick<RouteAnswer, 'description' | 'content'>;
}

/** A JSON message of this schema. */
export const messageAnswer = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ status: 200, description, content: { 'application/json': schema } }) as const;

const bareContent = { 'text/plain': Type.String(), 'application/json': Type.String() } as const;

/** A bare text: raw, or a JSON string for clients that ask for JSON. */
export const bareTextAnswer = (description: string) =>
  ({ status: 200, description, content: bareContent }) as const;

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
  /** How a refusal is written, where other protocols read it; absent: as everywhere. */
  readonly refusal?: TSchema;
  /** Requested again and again by devices: a plain request takes the fast path. */
  readonly isHot?: true;
  /** A log-in reads its own credentials: a stale token beside them does no harm. */
  readonly isLogin?: boolean;
  /** A GET that changes something: its HEAD, which is to be safe, is refused [RFC 9110 9.2.1]. */
  readonly isUnsafe?: boolean;
  readonly handle: (request: RouteRequest) => Promise<Answer>;
}

/** The answers that a handler may give where this content is documented. */
type AnswerWith<Content> = Content extends { readonly 'application/json': infer Schema }
  ? MessageAnswer<Schema extends TSchema ? Wire<Schema> : never>
  : Content extends object
    ? TextAnswer | StreamAnswer
    : EmptyAnswer;

/** The answers that the handler of a route that documents this may give. */
export type AnswerTo<Documented extends RouteAnswer> =
  | AnswerWith<Documented['content']>
  | (Documented extends { readonly alsoOk: { readonly content: infer Content } }
      ? AnswerWith<Content>
      : never);

type TypedHandle<Query, Value, Documented extends RouteAnswer> = (
  request: RouteRequest<Query, Value>,
) => Promise<AnswerTo<Documented>>;

interface TypedRoute<Query extends TObject, Value, Documented extends RouteAnswer>
  extends Omit<Route, 'handle'> {
  readonly query?: Query;
  readonly body?: ReadBody<Value>;
  readonly answer: Documented;
  readonly handle: TypedHandle<Static<Query>, Value, Documented>;
}

/** Makes fields writable: a request is made for one call of a route. */
type Writable<Given> = { -readonly [Key in keyof Given]: Given[Key] };

/** A route whose handler knows its query and body, and answers what the route documents. */
export function defineRoute<Query extends TObject, Value, const Documented extends RouteAnswer>(
  route: TypedRoute<Query, Value, Documented>,
): Route {
  const { body } = route;
  // The caller has read the query by its schema, and without a body there is no value.
  const handle = route.handle as TypedHandle<unknown, unknown, Documented>;
  if (body === undefined) return { ...route, handle };
  return {
    ...route,
    handle: (request) => {
      const given: Writable<RouteRequest<unknown, unknown>> = request;
      given.body = body.read(request.body);
      return handle(given);
    },
  };
}

/** A route without its method, path and tag; `errors` are the usual ones where absent. */
type Described<Query extends TObject, Value> = Omit<
  TypedRoute<Query, Value, RouteAnswer>,
  'method' | 'path' | 'tag' | 'errors' | 'answer' | 'handle'
> & { readonly errors?: Route['errors'] };

type Answering<Query extends TObject, Value, Documented extends RouteAnswer> = Described<
  Query,
  Value
> &
  Pick<TypedRoute<Query, Value, Documented>, 'answer' | 'handle'>;

/** A route that answers 204, as `done` describes it, once what it performs is through. */
interface Performing<Query extends TObject, Value> extends Described<Query, Value> {
  readonly done: string;
  readonly perform: (request: RouteRequest<Static<Query>, Value>) => Promise<unknown>;
}

/** The refusals of most routes: of what is sent, of who sends it, and of what the path names. */
export const usualErrors = ['invalid', 'unauthenticated', 'forbidden', 'not_found'] as const;
export type TaggedRoutes = ReturnType<typeof routesOf>;

/** Makes routes of one tag, by method: each has the usual refusals unless it names its own. */
export function routesOf(tag: string) {
  const of = (method: Method) => {
    function define<Query extends TObject, Value, const Documented extends RouteAnswer>(
      path: string,
      route: Answering<Query, Value, Documented>,
    ): Route;
    function define<Query extends TObject, Value>(
      path: string,
      route: Performing<Query, Value>,
    ): Route;
    function define(
      path: string,
      route: Answering<TObject, unknown, RouteAnswer> | Performing<TObject, unknown>,
    ): Route {
      const about = { method, path, tag, errors: usualErrorsOf({ ...route, path }) };
      if (!('perform' in route)) return defineRoute({ ...about, ...route });
      const { done: description, perform, ...others } = route;
      return defineRoute({
        ...{ ...about, ...others, answer: { status: 204, description } },
        handle: async (request: RouteRequest) => {
          await perform(request as Parameters<typeof perform>[0]);
          return done;
        },
      });
    }
    return define;
  };
  return {
    get: of('GET'),
    post: of('POST'),
    put: of('PUT'),
    patch: of('PATCH'),
    delete: of('DELETE'),
  };
}

/** The services that requests pass before they reach their routes. */
export interface Edge {
  readonly authenticate: Authenticate;
  readonly clients: Clients;
  readonly room: AnswerBudget;
  readonly turns: FairSlices;
  readonly guestTurns: FairSlices;
  readonly reporter: Reporter;
  readonly compressor: Compressor;
}

export interface MountOptions extends Omit<Edge, 'compressor'> {
  readonly prefix: string;
  readonly routes: readonly Route[];
  /** The budget of bodies that have not arrived whole. */
  readonly partialBytes: Budget;
  /** For reads that may be compressed and repeated with If-None-Match; absent: none are. */
  readonly compressor?: Compressor;
}

/** Puts the routes below `prefix`; other methods of their paths are answered 405. */
export function mountRoutes(fastify: FastifyInstance, options: MountOptions): void {
  const { prefix, routes, partialBytes } = options;
  const { identify } = options.room;
  for (const route of routes) {
    if (route.body?.kind !== 'stream') mountRoute(fastify, route, options);
    else
      inStreamScope(fastify, { room: partialBytes, identify }, (scope) =>
        mountRoute(scope, route, options),
      );
  }
  for (const [path, known] of Map.groupBy(routes, (route) => route.path)) {
    const safe = known.filter(({ method, isUnsafe }) => method === 'GET' && isUnsafe !== true);
    const allowed = [...safe.map(() => 'HEAD' as const), ...known.map(({ method }) => method)];
    refuseOtherMethods(fastify, prefix + path, allowed);
  }
}

function mountRoute(fastify: FastifyInstance, route: Route, options: MountOptions): void {
  const { reporter, room } = options;
  const isDoubtful = mayBeLedBackTo(route, options.routes);
  const compressor = mayShorten(route) ? options.compressor : undefined;
  const url = options.prefix + route.path;
  const respond = createResponder(route, options);

  fastify.route({
    method: route.method,
    exposeHeadRoute: route.isUnsafe !== true,
    url,
    bodyLimit: route.isLogin
      ? limits.bodyBytesMax / 4
      : (route.body?.bytesMax ?? limits.bodyBytesMax),
    config: { label: url },
    // Sends for itself instead of answering a promise: one less for Fastify to watch.
    handler: (request: FastifyRequest, reply: FastifyReply) => {
      const startedAt = performance.now();
      if (isDoubtful) requireNoTrailingSlash(request);
      const finish = async (responding: Promise<Answer>): Promise<void> => {
        const answer = await responding;
        const { headers } = request;
        const read = compressor && readOptionsOf(headers, request.method, compressor);
        const sent = send(answer, headers.accept, reply, { room, read });
        const status = typeof sent === 'number' ? sent : await sent.whole;
        const durationMs = performance.now() - startedAt;
        reporter.requestAnswered({ method: route.method, route: url, status, durationMs });
      };
      finish(respond(request)).catch((error) => reply.send(error));
    },
  });
}

/** Secrets stay out: the length of what was compressed, and a stored answer, reveal them. */
export const mayShorten = (route: Pick<Route, 'method' | 'path'>): boolean =>
  route.method === 'GET' && !route.path.startsWith('/auth/');

/** The parts of a request that are read, however it arrived. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  readonly url: string;
  readonly raw: RequestSource;
}

/** Answers a request. Throws, or rejects with, what `errorAnswer` makes a refusal of. */
export type Respond = (request: ReceivedRequest) => Promise<Answer>;

/** Reads the request by the route's data and asks its handler. */
export function createResponder(
  route: Route,
  edge: Pick<Edge, 'authenticate' | 'clients' | 'room' | 'turns' | 'guestTurns'>,
): Respond {
  const { authenticate, clients, room } = edge;
  const isRead = route.method === 'GET';
  // Pushes and logins have queues of their own; all other simultaneous requests begin in slices.
  const isPush = route.body?.kind === 'push' || route.body?.kind === 'stream';
  const takesTurns = isRead || !(isPush || route.isLogin === true);

  const inTurn = (request: ReceivedRequest, known: Actor): Promise<Answer> => {
    const client = clients.of(request.raw);
    const actor = known.kind === 'guest' ? client.guest : importing(known, request.headers);
    room.askedBy(request.raw, actor);
    if (!takesTurns) return answerTo(request, actor, client);
    const payer = payerOf(actor);
    const answer = (): Promise<Answer> => answerTo(request, actor, client);
    const turn = (actor.kind === 'guest' ? edge.guestTurns : edge.turns).enter(payer);
    if (!isRead) return turn === undefined ? answer() : turn.then(answer);
    if (turn === undefined) return paidBy(payer, answer);
    return turn.then(() => {
      if (request.raw.socket.destroyed) throw invalid('nobody waits for the answer');
      return paidBy(payer, answer);
    });
  };

  // Most requests have none.
  const emptyQuery = route.query && Object.freeze(readQuery(route.query, {}));
  const queryOf = (given: object): unknown => {
    if (route.query === undefined || isEmptyObject(given)) return emptyQuery;
    return readQuery(route.query, given as RawQuery);
  };

  const answerTo = (request: ReceivedRequest, actor: Actor, client: Client): Promise<Answer> => {
    const { headers } = request;
    const read: RouteRequest = {
      actor,
      params: paramsOf(request),
      query: queryOf(request.query as object),
      body: route.body?.parse(request.body, headers['content-type']),
      url: request.url,
      accept: headers.accept,
      authorization: headers.authorization,
      headers,
      address: client.address,
      raw: request.raw,
      spelling: v2Spelling,
    };
    if (!isLong(request.body)) return route.handle(read);
    // Reading it has taken a while: other work runs before it is handled.
    return yieldToEventLoop().then(() => route.handle(read));
  };

  const respond: Respond = (request) => {
    const authorization = route.isLogin === true ? undefined : request.headers.authorization;
    // Most secrets were looked up a moment ago: then there is nothing to wait for.
    const known = authenticate.peek?.(authorization);
    if (known !== undefined) return inTurn(request, known);
    return authenticate(authorization).then((actor) => inTurn(request, actor));
  };
  if (route.isLogin !== true && (isRead || isPush)) return respond;
  // A client that waits for a password to be checked or hashed is not silent.
  return async (request) => {
    const release = holdForLogin(request.raw.socket);
    try {
      return await respond(request);
    } finally {
      release();
    }
  };
}

function isEmptyObject(given: object): boolean {
  for (const _ in given) return false;
  return true;
}

const isLong = (body: unknown): boolean => Buffer.isBuffer(body) && body.length >= 32_768;

/** Ids that a client asked for as JSON may come with their quotes; no id holds any. */
function paramsOf({ params, url }: ReceivedRequest): Params {
  const known = params as Params;
  if (!url.includes('%22')) return known;
  const bare = (value: string): string => value.replace(/^"(.*)"$/, '$1');
  return Object.fromEntries(Object.entries(known).map(([name, value]) => [name, bare(value)]));
}

function refuseOtherMethods(fastify: FastifyInstance, url: string, allowed: HTTPMethods[]): void {
  const allow = [...allowed, 'OPTIONS'].join(', ');
  fastify.route({
    method: ([...methods, 'HEAD'] as const).filter((method) => !allowed.includes(method)),
    url,
    handler: (request) => {
      const message = `${request.method} is not possible here: use ${allow}`;
      throw new EdgeError('method_not_allowed', message, { allow });
    },
  });
}
