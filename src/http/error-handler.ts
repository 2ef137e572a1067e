import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { Reporter } from '../domain/reporter.ts';
import type { Log } from '../lib/log.ts';
import { jsonType } from './answer.ts';
import { type ErrorAnswer, errorAnswer } from './errors.ts';

/** Writes a refusal as the clients of a protocol read it. */
export type Refuse = (answer: ErrorAnswer) => { readonly type: string; readonly text: string };

/** As everywhere in this API: JSON that tells what is wrong. */
export const refuseAsUsual: Refuse = ({ body }) => ({ type: jsonType, text: JSON.stringify(body) });

/** Told of each refusal, before it is answered. */
export type OnRefused = (request: FastifyRequest, code: string, error: unknown) => void;

/** Whatever is thrown within the scope is counted, and answered as `refuse` writes it. */
export function answerErrors(
  scope: FastifyInstance,
  options: {
    readonly reporter: Reporter;
    readonly log: Log;
    readonly refuse: Refuse;
    readonly onRefused?: OnRefused;
  },
): void {
  const { reporter, log, refuse } = options;
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const answer = errorAnswer(error, log);
    const { code, status, headers } = answer;
    reporter.requestRefused(code);
    options.onRefused?.(request, code, error);
    const route = request.routeOptions.url ?? 'unknown';
    const durationMs = reply.elapsedTime;
    reporter.requestAnswered({ method: request.method, route, status, durationMs });
    const { type, text } = refuse(answer);
    return reply
      .code(status)
      .headers({ ...headers, 'content-type': type })
      .send(text);
  });
}
