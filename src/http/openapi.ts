import { errorCodes } from '../domain/errors.ts';
import { edgeErrorCodes, statusOf } from './errors.ts';
import type { Route, RouteBody } from './route.ts';

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

const titleOf = { v2: 'Kipimo', v1: 'Kipimo, version 1' } as const;

/** The reference of one API version, made from the same routes that are mounted. */
export function createVersionDocument(
  name: keyof typeof titleOf,
  options: {
    readonly version: string;
    readonly routes: readonly Route[];
    /** Says a sentence of ours in the words of this version of the API. */
    readonly inWords?: (sentence: string) => string;
  },
): OpenApiDocument {
  const { inWords = (sentence) => sentence } = options;
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of options.routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route, inWords);
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
      schemas: { Error: errorSchema },
    },
  };
}

const errorSchema = {
  type: 'object',
  required: ['error', 'description'],
  properties: {
    error: { type: 'string', enum: [...Object.keys(errorCodes), ...Object.keys(edgeErrorCodes)] },
    description: { type: 'string', description: 'What to change.' },
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
      requestBody: {
        required: route.body.kind !== 'optional',
        content: bodyContent(route.body),
      },
    }),
    responses: { [route.answer.status]: success(route), ...refusals(route, inWords) },
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
    return { name, in: 'query', ...(description !== undefined && { description }), schema };
  });
}

function bodyContent({ kind, schema, contentType }: RouteBody): object {
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

function success({ answer }: Route): object {
  const content = Object.entries(answer.content ?? {}).map(([type, schema]) => [type, { schema }]);
  return {
    description: answer.description,
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  };
}

function refusals(route: Route, inWords: (sentence: string) => string): object {
  const descriptions: Readonly<Record<string, string>> = { ...errorCodes, ...edgeErrorCodes };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return Object.fromEntries(
    route.errors.map((code) => [
      statusOf[code],
      { description: inWords(descriptions[code] ?? ''), content },
    ]),
  );
}
