import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalid } from '../../domain/errors.ts';
import { jsonType } from '../answer.ts';
import type { Authenticate } from '../authentication.ts';
import { endpointLimits } from './endpoint-limits.ts';

/** The version of InfluxDB whose answers these are. */
const versionHeader = { 'x-influxdb-version': '1.6.7' };

/** Answers what clients of InfluxDB ask before they write; `authenticate` knows their tokens. */
export function mountInfluxQueries(scope: FastifyInstance, authenticate: Authenticate): void {
  scope.get('/ping', (_request, reply) => reply.code(204).headers(versionHeader).send());
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

/** Of the address and of a form; the form counts. */
function parametersOf({ url, body }: FastifyRequest): URLSearchParams {
  const mark = url.indexOf('?');
  const parameters = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const form = new URLSearchParams(Buffer.isBuffer(body) ? body.toString().trim() : '');
  for (const [name, text] of form) parameters.set(name, text);
  return parameters;
}

function statementsOf(query: string): readonly string[] {
  const statements = query.split(';', endpointLimits.statementsMax + 1).map((text) => text.trim());
  const asked = statements.filter((text) => text !== '');
  if (asked.length === 0) throw invalid('missing required parameter "q"');
  if (statements.length <= endpointLimits.statementsMax) return asked;
  throw invalid(`a query may have ${endpointLimits.statementsMax} statements`);
}

/** There is one store, and every name of a database is that of it. */
function resultOf(statement: string, index: number): object {
  if (/^create\s+database\s+\S/i.test(statement)) return { statement_id: index };
  if (/^show\s+databases$/i.test(statement)) {
    const series = [{ name: 'databases', columns: ['name'], values: [['kipimo']] }];
    return { statement_id: index, series };
  }
  throw invalid(
    `${statement.slice(0, 60)} is not answered here: CREATE DATABASE and SHOW DATABASES are; ` +
      'read with GET /api/v2/devices/{device_id}/sensors/{sensor_id}/values',
  );
}
