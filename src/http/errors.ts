import { DomainError, type ErrorCode } from '../domain/errors.ts';
import type { Log } from '../lib/log.ts';
import { defined } from '../lib/record.ts';
import { codeOf } from '../wire/refusal-code.ts';

/** Refusals that only HTTP knows. */
export const edgeErrorCodes = {
  method_not_allowed: 'The path exists, but not with this method; see the Allow header.',
  unsupported_media_type: 'The Content-Type or Content-Encoding is not one this endpoint reads.',
  unknown_recipient:
    'Version 1 only: a social message names a user who does not exist. A mistake of the client, ' +
    'with the status that clients of version 1 know for it.',
  internal: 'A fault of ours; it was logged.',
} as const;

export type EdgeErrorCode = keyof typeof edgeErrorCodes;

/** The only place that knows which status a refusal has [contract 2]. */
export const statusOf: Readonly<Record<ErrorCode | EdgeErrorCode, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media_type: 415,
  conflict: 422,
  blocked: 409,
  gone: 410,
  rate_limited: 429,
  limit_reached: 403,
  unknown_recipient: 500,
  internal: 500,
  unavailable: 503,
  storage_full: 507,
};

/** The refusals of most routes: who asks, what is sent, and what the path names. */
export function usualErrorsOf(route: {
  readonly path: string;
  readonly query?: unknown;
  readonly body?: unknown;
}): readonly ErrorCode[] {
  const { path, query, body } = route;
  if (path.includes(':')) return ['invalid', 'unauthenticated', 'forbidden', 'not_found'];
  const isSent = query !== undefined || body !== undefined;
  return isSent ? ['invalid', 'unauthenticated', 'forbidden'] : ['unauthenticated', 'forbidden'];
}

export type Headers = Readonly<Record<string, string>>;

/** A refusal by the HTTP edge itself. */
export class EdgeError extends Error {
  readonly code: EdgeErrorCode;
  readonly headers: Headers;

  constructor(code: EdgeErrorCode, message: string, headers: Headers = {}) {
    super(message);
    this.name = 'EdgeError';
    this.code = code;
    this.headers = headers;
  }
}

export interface ErrorAnswer {
  readonly code: ErrorCode | EdgeErrorCode;
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    /** The kind, which decides the status. */
    readonly error: string;
    readonly description: string;
    /** More exact than the kind where the service knows more. */
    readonly code: string;
    readonly params: Readonly<Record<string, string | number>>;
  };
}

/** Turns whatever was thrown into an answer. A bug is logged and shows nothing. */
export function errorAnswer(error: unknown, log: Log): ErrorAnswer {
  if (error instanceof DomainError) {
    return answer(error.code, error.message, domainHeaders(error), firstSaid(error));
  }
  if (error instanceof EdgeError) return answer(error.code, error.message, error.headers);
  const framework = frameworkAnswer(error);
  if (framework !== undefined) return framework;
  log.error({ error }, 'a request failed by a fault of ours');
  return answer('internal', 'something went wrong on our side; it was logged', {});
}

/** The same refusal in other words, or with more of them. */
export function reworded(refusal: DomainError, message: string): DomainError {
  const { code, retryAfterSeconds } = refusal;
  return new DomainError(code, message, defined({ cause: refusal, retryAfterSeconds }));
}

/** A refusal as part of an answer that is none. */
export const refusalBody = (error: DomainError): ErrorAnswer['body'] =>
  answer(error.code, error.message, {}, firstSaid(error)).body;

function domainHeaders(error: DomainError): Headers {
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = `${error.retryAfterSeconds}`;
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return headers;
}

/** The answer to a request that Fastify itself refused while reading it. */
function frameworkAnswer(error: unknown): ErrorAnswer | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const status = error.statusCode;
  if (status === 413) return answer('too_large', 'the body is larger than this path takes', {});
  // A static file outside of its folder: there is nothing to be had, whatever is there.
  if (status === 403 || status === 404) return answer('not_found', 'there is nothing here', {});
  if (status === 415) {
    const sentence = 'this Content-Type is not read: send application/json';
    return answer('unsupported_media_type', sentence, {});
  }
  if ('code' in error && error.code === 'FST_ERR_BAD_URL') {
    const path = error.message.slice(0, 100);
    return answer('invalid', `the path is no UTF-8 text, write % as %25: ${path}`, {});
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return answer('invalid', error.message, {});
  }
  return undefined;
}

function answer(
  code: ErrorCode | EdgeErrorCode,
  description: string,
  headers: Headers,
  said = description,
): ErrorAnswer {
  const exact = codeOf(said) ?? { code, params: {} };
  return { code, status: statusOf[code], headers, body: { error: code, description, ...exact } };
}

/** The sentence before anything was added to it, or said in the words of version 1. */
function firstSaid(error: DomainError): string {
  return error.cause instanceof DomainError ? firstSaid(error.cause) : error.message;
}
