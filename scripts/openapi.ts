import { errorCodes } from '../src/domain/errors.ts';
import type { RouteBody } from '../src/http/body.ts';
import { compatibleV2Routes, type EndpointServices } from '../src/http/compatible/endpoints.ts';
import { edgeErrorCodes, statusOf } from '../src/http/errors.ts';
import { mayShorten, type Route, type RouteAnswer } from '../src/http/route.ts';
import { textToV1 } from '../src/http/v1/dictionary.ts';
import { defined } from '../src/lib/record.ts';
import { refusalPatterns } from '../src/wire/refusal-patterns.ts';

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

const titleOf = { v2: 'Kipimo', v1: 'Kipimo, version 1' } as const;

/** The OpenAPI documents of both versions, made from the routes; docs/openapi/ has them. */
export function versionDocuments(options: {
  readonly version: string;
  readonly routes: Readonly<Record<'v1' | 'v2', readonly Route[]>>;
  readonly services: EndpointServices;
}): Readonly<Record<'v2' | 'v1', () => OpenApiDocument>> {
  const { version, routes, services } = options;
  return {
    v2: () =>
      createVersionDocument('v2', {
        version,
        routes: [...routes.v2, ...compatibleV2Routes(services)],
      }),
    v1: () => createVersionDocument('v1', { version, routes: routes.v1, inWords: textToV1 }),
  };
}

/** The reference of one API version, made from the same routes that are mounted. */
function createVersionDocument(
  name: keyof typeof titleOf,
  options: {
    readonly version: string;
    readonly routes: readonly Route[];
    /** Says a sentence of ours in the words of this version of the API. */
    readonly inWords?: (sentence: string) => string;
  },
): OpenApiDocument {
  const { inWords = (sentence) => sentence } = options;
  const components = createComponents(inWords);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of options.routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = components.named(operation(route, inWords));
  }
  return {
    openapi: '3.1.0',
    info: {
      title: titleOf[name],
      version: options.version,
      description: `Your own sensor cloud. ${inWords(
        'Create a device, push values, read them back. ' +
          'Most calls work without a token too, as a guest.',
      )}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `/api/${name}` }],
    tags: [...new Set(options.routes.map((route) => route.tag))].map((name) => ({ name })),
    security: [{}, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token or an access key.' },
        basic: { type: 'http', scheme: 'basic' },
      },
      schemas: { Error: errorSchema, ...components.schemas() },
    },
  };
}

const exactCodes = Object.keys(refusalPatterns).join(', ');

const errorSchema = {
  type: 'object',
  required: ['error', 'description'],
  properties: {
    error: { type: 'string', enum: [...Object.keys(errorCodes), ...Object.keys(edgeErrorCodes)] },
    description: { type: 'string', description: 'What to change.' },
    code: {
      type: 'string',
      description:
        'What exactly is refused, for programs that say it in their own words; as `error` where ' +
        `there is nothing more exact. A newer service may know more: ${exactCodes}.`,
    },
    params: {
      type: 'object',
      description: 'What the description names, such as the field and its limit.',
      additionalProperties: true,
    },
  },
};

function operation(route: Route, inWords: (sentence: string) => string): object {
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  return {
    tags: [route.tag],
    summary: route.summary,
    operationId: operationId(route),
    ...(route.isLogin === true && {
      security: route.method === 'GET' ? [{ basic: [] }] : [],
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: { required: route.body.kind !== 'optional', content: bodyContent(route.body) },
    }),
    responses: {
      ...successes(route),
      ...(mayShorten(route) && { 304: { description: 'If-None-Match has the ETag: no change.' } }),
      ...refusals(route, inWords),
    },
  };
}

/** PUT /devices/:device_id/name → putDevicesName */
function operationId(route: Route): string {
  const words = route.path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  const isOne = route.path.split('/').at(-1)?.startsWith(':') === true;
  const capitalised = words.flatMap((word) => word.split('_')).map(capitalise);
  return route.method.toLowerCase() + capitalised.join('') + (isOne ? 'One' : '');
}

const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function pathParameters(route: Route): readonly object[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route): readonly object[] {
  const properties: Readonly<Record<string, object>> = route.query?.properties ?? {};
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as { description?: string };
    return defined({ name, in: 'query', description, schema });
  });
}

function bodyContent(body: RouteBody): object {
  const { kind, contentType } = body;
  const schema = body.documented ?? body.schema;
  if (contentType !== undefined) return { [contentType]: { schema } };
  const asJson = { 'application/json': { schema } };
  if (kind === 'json' || kind === 'optional') return asJson;
  if (kind === 'stream') {
    const lines = { type: 'string', description: 'One JSON object per line.' };
    return { ...asJson, 'application/x-ndjson': { schema: lines } };
  }
  const withText = { ...asJson, 'text/plain': { schema: { type: 'string' } } };
  if (kind !== 'push') return withText;
  const rows = { type: 'string', description: 'Columns timestamp,value; or what a read answers.' };
  return { ...withText, 'text/csv': { schema: rows } };
}

function successes({ answer }: Route): object {
  const { status, alsoOk } = answer;
  if (alsoOk === undefined) return { [status]: success(answer) };
  return { 200: success(alsoOk), [status]: success(answer) };
}

function success(answer: Omit<RouteAnswer, 'status'>) {
  const { description, content: given, isOptional } = answer;
  const content = Object.entries(given ?? {}).map(([type, schema]) => [type, { schema }]);
  return {
    description,
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
    // The body may also be empty, which OpenAPI has no word for.
    ...(isOptional === true && { 'x-optional': true }),
  };
}

type Code = Route['errors'][number];

/** Every refusal that can occur: those the route names, and those of what it does. */
function codesOf({ method, errors, body, path, query }: Route): ReadonlySet<Code> {
  const codes = new Set<Code>([...errors, 'unavailable']);
  if (query !== undefined || path.includes(':')) codes.add('invalid');
  // Too much work at once, or too much that waits to be read.
  if (method === 'GET') codes.add('rate_limited');
  if (body !== undefined) {
    // Of a body that is too long, and of one for which there is no budget at the moment.
    for (const code of ['invalid', 'too_large', 'rate_limited'] as const) codes.add(code);
    if (body.kind !== 'optional') codes.add('unsupported_media_type');
  }
  // Of the disk, or of whose quota it is.
  if (method !== 'GET') codes.add('storage_full');
  if (path === '/auth/token') codes.add('rate_limited');
  return codes;
}

function refusals(route: Route, inWords: (sentence: string) => string): object {
  const descriptions: Readonly<Record<string, string>> = { ...errorCodes, ...edgeErrorCodes };
  const schema = route.refusal ?? { $ref: '#/components/schemas/Error' };
  const content = { 'application/json': { schema } };
  const byStatus = Map.groupBy(codesOf(route), (code) => statusOf[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const description = codes.map((code) => inWords(descriptions[code] ?? '')).join(' ');
      return [status, { description, content }];
    }),
  );
}

/** The schemas of a document that have a name, each written once. */
interface Components {
  /** The part of a document with references in place of the schemas that have a name. */
  named(part: object): object;
  /** By their names. */
  schemas(): Readonly<Record<string, unknown>>;
}

/** A schema's title is its name; `inWords` says it in the words of a version of the API. */
function createComponents(inWords: (name: string) => string): Components {
  const schemas = new Map<string, unknown>();

  function named(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(named);
    if (typeof node !== 'object' || node === null) return node;
    const { title, ...others } = node as Readonly<Record<string, unknown>>;
    const entries = Object.entries(others).map(([key, value]) => [key, named(value)]);
    const plain = Object.fromEntries(entries);
    if (typeof title !== 'string' || others['type'] !== 'object') {
      return title === undefined ? plain : { title, ...plain };
    }
    const name = title.replace(/[A-Z][a-z]+/g, inWords);
    // A version may answer more than it takes under one name: each schema has its own then.
    const known = schemas.get(name) ?? plain;
    schemas.set(name, known);
    if (JSON.stringify(known) !== JSON.stringify(plain)) return plain;
    return { $ref: `#/components/schemas/${name}` };
  }

  return { named: (part) => named(part) as object, schemas: () => Object.fromEntries(schemas) };
}
