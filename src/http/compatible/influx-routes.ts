import Type from 'typebox';
import { OneOf, Text } from '../../wire/fields.ts';
import { type Precision, precisions } from '../../wire/line-points.ts';
import { done } from '../answer.ts';
import { type Authenticate, basicCredentials } from '../authentication.ts';
import { defineRoute, type Route, type RouteRequest } from '../route.ts';
import { asSent, streamBody } from '../route-body.ts';
import type { StreamBody } from '../stream-body.ts';
import { inflated } from './inflation.ts';
import type { WriteLines } from './line-writes.ts';

const body = streamBody(
  Type.String({
    description:
      'Line protocol: measurement,tag=value field=value,field=value timestamp. May be gzip.',
  }),
  asSent,
  { contentType: 'text/plain' },
);

const precision = Type.Optional(OneOf(precisions, 'What timestamps count; else nanoseconds.'));
const ignored = Type.Optional(Text('Taken and ignored: there is one store.'));

const common = {
  method: 'POST',
  path: '/write',
  tag: 'Datapoints',
  body,
  answer: { status: 204, description: 'All lines are on disk.' },
  errors: [
    'invalid',
    'unauthenticated',
    'forbidden',
    'too_large',
    'unsupported_media_type',
    'unavailable',
  ],
} as const;

const refusal = Type.Object(
  {
    ...{ error: Type.String(), description: Type.String({ description: 'What to change.' }) },
    code: Type.String({ description: 'As InfluxDB 2 calls it.' }),
    message: Type.String({ description: 'The same as the description.' }),
  },
  { title: 'InfluxError' },
);

/** Where clients of InfluxDB 2 write. */
export function influxRoute(writeLines: WriteLines): Route {
  return defineRoute({
    ...common,
    refusal,
    summary: 'Push datapoints in the line protocol of InfluxDB',
    query: Type.Object({ org: ignored, bucket: ignored, precision }),
    handle: async ({ actor, body, query, headers }) => {
      await writeLines(lineWrite({ actor, body, query, headers }));
      return done;
    },
  });
}

/** Where clients of InfluxDB 1 write, with an access key in place of the password. */
export function influxV1Route(writeLines: WriteLines, authenticate: Authenticate): Route {
  const secret = Type.Optional(Text('An access key, or a token.'));
  return defineRoute({
    ...common,
    summary: 'Push datapoints as clients of InfluxDB 1 do',
    query: Type.Object({ precision, u: Type.Optional(Text('Ignored.')), p: secret }),
    handle: async ({ actor, body, query, headers }) => {
      const { p } = query;
      const writer = p === undefined || p === '' ? actor : await authenticate(`Bearer ${p}`);
      await writeLines(lineWrite({ actor: writer, body, query, headers }));
      return done;
    },
  });
}

function lineWrite({
  actor,
  body,
  query,
  headers,
}: Pick<RouteRequest, 'actor' | 'headers'> & {
  readonly body: StreamBody;
  readonly query: { readonly precision?: Precision };
}) {
  const pieces = inflated(body.pieces, headers['content-encoding']);
  return { actor, pieces, precision: query.precision ?? 'ns' };
}

/** Besides Bearer what clients of InfluxDB send: Token, and Basic with the key as the password. */
export function acceptingTokens(authenticate: Authenticate): Authenticate {
  return (authorization) => {
    const token = /^token\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token !== undefined) return authenticate(`Bearer ${token}`);
    const basic = basicCredentials(authorization);
    if (basic === undefined) return authenticate(authorization);
    return authenticate(basic.password === '' ? undefined : `Bearer ${basic.password}`);
  };
}
