import type { FastifyError, FastifyInstance } from 'fastify';
import type { Reporter } from '../domain/reporter.ts';
import type { Log } from '../lib/log.ts';
import { jsonType } from './answer.ts';
import { type ErrorAnswer, errorAnswer, type Headers } from './errors.ts';
import type { ReceivedRequest } from './route.ts';

/** Writes a refusal as the clients of a protocol read it. */
export type Refuse = (answer: ErrorAnswer) => { readonly type: string; readonly text: string };
/** As everywhere in this API: JSON that says what is wrong. */
export const refuseAsUsual: Refuse = ({ body }) => ({ type: jsonType, text: JSON.stringify(body) });

/** The data of a refused request, with its body as it arrived, where that is at hand. */
export interface RefusedRequest extends Omit<ReceivedRequest, 'query'> {
  readonly method: string;
  readonly is404: boolean;
  readonly routeOptions: { readonly url?: string | undefined };
}

/** Receives each refusal, before it is answered. */
export type OnRefused = (request: RefusedRequest, answer: ErrorAnswer, error: unknown) => void;

interface RefusalOptions {
  readonly reporter: Reporter;
  readonly log: Log;
  readonly refuse: Refuse;
  readonly onRefused?: OnRefused;
}

/** Counts whatever is thrown within the scope, and answers it as `refuse` writes it. */
export function answerErrors(scope: FastifyInstance, options: RefusalOptions): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, headers, text } = refusalOf(error, request, reply.elapsedTime, options);
    return reply.code(status).headers(headers).send(text);
  });
}

/** Counts and reports an error thrown after `durationMs`, and says how it is answered. */
export function refusalOf(
  error: unknown,
  request: RefusedRequest,
  durationMs: number,
  { reporter, log, refuse, onRefused }: RefusalOptions,
): { readonly status: number; readonly headers: Headers; readonly text: string } {
  const answer = errorAnswer(error, log);
  const { code, status, headers } = answer;
  reporter.requestRefused(code);
  onRefused?.(request, answer, error);
  const route = request.routeOptions.url ?? 'unknown';
  reporter.requestAnswered({ method: request.method, route, status, durationMs });
  const { type, text } = refuse(answer);
  return { status, headers: { ...headers, 'content-type': type }, text };
}
