import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { payerOf } from '../../domain/budgets/budget.ts';
import { invalid } from '../../domain/errors.ts';
import { countFor } from '../../lib/connection-guard.ts';
import { ownEntry } from '../../lib/own-entry.ts';
import { Message, OneOf, Plain, Text } from '../../wire/fields.ts';
import { type Precision, precisions } from '../../wire/line-protocol.ts';
import { readForm, type UpdateParameters } from '../../wire/thing-speak.ts';
import { jsonType } from '../answer.ts';
import { type Authenticate, basicCredentials } from '../authentication.ts';
import { asSent, streamBody } from '../body.ts';
import { bounded } from '../content-encoding.ts';
import { pathOf } from '../refused-pushes.ts';
import { type Route, routesOf } from '../route.ts';
import { endpointLimits } from './endpoint-limits.ts';
import { readableLines, type WriteLines } from './line-writes.ts';
import { queryOf } from './thing-speak-routes.ts';

const body = streamBody(
  Plain('Line protocol: measurement,tag=value field=value timestamp. May be gzip or deflate.'),
  asSent,
  { contentType: 'text/plain' },
);

const precision = Type.Optional(OneOf(precisions, 'What timestamps count; else nanoseconds.'));
const ignored = Type.Optional(Text('Taken and ignored: there is one store.'));
const route = routesOf('Datapoints');

const common = {
  body,
  done: 'All lines are on disk.',
  errors: ['invalid', 'unauthenticated', 'forbidden', 'too_large', 'unsupported_media_type'],
} as const;

const refusal = Message('InfluxError', {
  ...{ error: Type.String(), description: Plain('What to change.') },
  code: Plain('As InfluxDB 2 calls it.'),
  message: Plain('The same as the description.'),
});

/** Where clients of InfluxDB 2 write. */
export function influxRoute(writeLines: WriteLines): Route {
  return route.post('/write', {
    ...common,
    refusal,
    summary: 'Push datapoints in the line protocol of InfluxDB',
    query: Type.Object({ org: ignored, bucket: ignored, precision }),
    perform: ({ actor, body: { pieces }, query: { precision }, url }) =>
      writeLines({ actor, pieces, precision, path: pathOf(url) }),
  });
}

/** Where clients of InfluxDB 1 write, with an access key in place of the password. */
export function influxV1Route(writeLines: WriteLines, authenticate: Authenticate): Route {
  const secret = Type.Optional(Text('An access key, or a token.'));
  return route.post('/write', {
    ...common,
    summary: 'Push datapoints as clients of InfluxDB 1 do',
    query: Type.Object({ precision, u: Type.Optional(Text('Ignored.')), p: secret }),
    perform: async ({ actor, body: { pieces }, query: { p, precision }, raw, url }) => {
      const writer = p === undefined || p === '' ? actor : await authenticate(`Bearer ${p}`);
      countFor(raw.socket, payerOf(writer));
      await writeLines({ actor: writer, pieces, precision, path: pathOf(url) });
    },
  });
}

const wholeWords: Readonly<Record<string, Precision>> = {
  nanosecond: 'ns',
  microsecond: 'us',
  millisecond: 'ms',
  second: 's',
};

const precisionsOfV3 = [
  'auto',
  'nanosecond',
  'microsecond',
  'millisecond',
  'second',
  ...precisions,
] as const;

/** Where clients of InfluxDB 3 write. */
export function influxV3Route(writeLines: WriteLines): Route {
  return route.post('/api/v3/write_lp', {
    ...common,
    refusal,
    summary: 'Push datapoints as clients of InfluxDB 3 do',
    query: Type.Object({
      db: ignored,
      precision: Type.Optional(OneOf(precisionsOfV3, 'What timestamps count; else auto.')),
      accept_partial: Type.Optional(OneOf(['true', 'false'], 'false: all lines, or none.')),
      no_sync: ignored,
    }),
    perform: async ({ actor, body: { pieces }, query, url }) => {
      const given = query.precision ?? 'auto';
      const precision = ownEntry(wholeWords, given) ?? (given as Precision | 'auto');
      const isWhole = query.accept_partial === 'false';
      const write = { actor, precision, path: pathOf(url) };
      if (!isWhole) await writeLines({ ...write, pieces });
      else {
        const kept = bounded(pieces, endpointLimits.wholeWriteBytesMax);
        await writeLines({ ...write, pieces: await readableLines(kept, precision) });
      }
    },
  });
}

/**
 * Besides Bearer what clients of InfluxDB send: Token, with a username before it or without, and
 * Basic with the key as the password.
 */
export function acceptingTokens(authenticate: Authenticate): Authenticate {
  return (authorization) => {
    const token = /^token\s+(?:[^\s:]*:)?([^\s:]+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token !== undefined) return authenticate(`Bearer ${token}`);
    const basic = basicCredentials(authorization);
    if (basic === undefined) return authenticate(authorization);
    return authenticate(basic.password === '' ? undefined : `Bearer ${basic.password}`);
  };
}

/** The version of InfluxDB whose answers these are. */
const versionHeader = { 'x-influxdb-version': '1.6.7' };

/** Answers what clients of InfluxDB ask before they write; `authenticate` knows their tokens. */
export function mountInfluxQueries(scope: FastifyInstance, authenticate: Authenticate): void {
  scope.get('/ping', (_request, reply) => reply.code(204).headers(versionHeader).send());
  // Clients of InfluxDB 2 ask here.
  const health = { name: 'influxdb', message: 'ready for writes', status: 'pass', checks: [] };
  scope.get('/health', (_request, reply) => reply.headers(versionHeader).send(health));
  scope.route({
    method: ['GET', 'POST'],
    url: '/query',
    handler: async (request, reply) => {
      const parameters = parametersOf(request);
      const secret = parameters.get('p') ?? '';
      await authenticate(secret === '' ? request.headers.authorization : `Bearer ${secret}`);
      const results = statementsOf(parameters.get('q') ?? '').map(resultOf);
      const text = `${JSON.stringify({ results })}\n`;
      return reply.headers({ ...versionHeader, 'content-type': jsonType }).send(text);
    },
  });
}

/** Of the address and of a form; the form counts. Throws DomainError where either has many. */
function parametersOf({ url, body }: FastifyRequest): UpdateParameters {
  const form = readForm(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
  return new Map([...queryOf(url), ...form]);
}

function statementsOf(query: string): readonly string[] {
  const statements = query.split(';', endpointLimits.statementsMax + 1).map((text) => text.trim());
  const asked = statements.filter((text) => text !== '');
  if (asked.length === 0) throw invalid('missing required parameter "q"');
  if (statements.length <= endpointLimits.statementsMax) return asked;
  throw invalid(`a query may have ${endpointLimits.statementsMax} statements`);
}

/** There is one store, and every name of a database, and of its policies, is that of it. */
function resultOf(statement: string, index: number): object {
  if (/^create\s+(?:database|retention\s+policy)\s+\S/i.test(statement)) {
    return { statement_id: index };
  }
  if (/^show\s+databases$/i.test(statement)) {
    const series = [{ name: 'databases', columns: ['name'], values: [['kipimo']] }];
    return { statement_id: index, series };
  }
  if (/^create\s+database$/i.test(statement)) {
    throw invalid(`${statement} lacks the name of the database, as in ${statement} kipimo`);
  }
  throw invalid(
    `${statement.slice(0, 60)} is not answered here: CREATE DATABASE and SHOW DATABASES are; ` +
      'read with GET /api/v2/devices/{device_id}/sensors/{sensor_id}/values',
  );
}
