import { printable } from '../../src/cli/printable.ts';
import { backoffMs } from '../../src/lib/backoff.ts';
import { type JsonValue, parseJson } from '../../src/lib/json.ts';
import type { BulkReportMessage } from '../../src/wire/bulk.ts';
import type { Wire } from '../../src/wire/fields.ts';
import { type ClientLimits, clientLimits } from './client-limits.ts';
import {
  RedirectError,
  requireNoRedirect,
  requirePlainPath,
  unfollowed,
} from './foreign-answers.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below /api/v2. */
  readonly path: string;
  /** The path is from the root of the service. */
  readonly isAtRoot?: boolean;
  readonly json?: unknown;
  /** Instead of json: newline-delimited JSON. */
  readonly lines?: string;
  /** Sent without a token: logging in and signing up. */
  readonly isAnonymous?: boolean;
  /** Not sent again when the answer is lost: it would be done twice. */
  readonly isOnce?: boolean;
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: JsonValue | undefined;
  /** The number in X-Total-Count; undefined when the header is absent. */
  readonly total: number | undefined;
}

/** The answer of the service to a push of many values. */
export type BulkAnswer = Wire<typeof BulkReportMessage>;

export interface ApiStream {
  readonly status: number;
  readonly total: number | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Why it is no stream of datapoints. */
  reason(): Promise<string>;
}

/** The service cannot be reached, or stays too busy; another run may go on. */
export class UnreachableError extends Error {}

/** The service does not take the password or the token. */
export class LoginError extends Error {}

/** Sends requests to version 2 of a service, as one account. */
export interface ApiClient {
  readonly url: string;
  /** Answers what was said, after tries within limits. Throws UnreachableError, LoginError. */
  call(request: ApiRequest): Promise<ApiAnswer>;
  /** Like call, and throws when the status is none of `expected`. */
  need(request: ApiRequest, ...expected: readonly number[]): Promise<ApiAnswer>;
  /** The same with a body that is read as it arrives; a break in it is the reader's matter. */
  open(path: string): Promise<ApiStream>;
  /** From now on requests carry this token; `renew` gets another when it has expired. */
  authorize(token: string, renew?: () => Promise<string>): void;
  /** Logs in now, and again whenever the token has ended. Throws LoginError. */
  logIn(username: string, password: string): Promise<void>;
  /** Resolves after the pause before this try. */
  pause(attempt: number): Promise<void>;
}

export interface ApiClientOptions {
  /** For instance http://127.0.0.1:8080; /api/v2 at its end is understood. */
  readonly url: string;
  /** Waits between attempts. */
  readonly wait: (delayMs: number) => Promise<void>;
  /** Ends what is under way when the run is stopped. */
  readonly signal: AbortSignal;
  readonly random?: () => number;
  /** Says so with each body: what an administrator imports may be larger than usual. */
  readonly isImporting?: boolean;
  readonly limits?: Partial<ClientLimits>;
}

/** A client that logs in again, waits and tries again, within limits. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { signal, wait, random = Math.random, isImporting = false } = options;
  const limits = { ...clientLimits, ...options.limits };
  const url = options.url.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  let token: string | undefined;
  let renew: (() => Promise<string>) | undefined;
  let renewing: Promise<string> | undefined;
  let wasReached = false;

  function attempt(request: ApiRequest): Promise<Response> {
    const { method, path, json, lines, isAnonymous = false, isAtRoot = false } = request;
    const body = json === undefined ? lines : JSON.stringify(json);
    const type = json === undefined ? 'application/x-ndjson' : 'application/json';
    return fetch(`${url}${isAtRoot ? '' : '/api/v2'}${path}`, {
      ...unfollowed,
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.requestMs)]),
      headers: {
        ...(token !== undefined && !isAnonymous && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': type }),
        ...(body !== undefined && isImporting && { 'kipimo-import': 'true' }),
      },
      ...(body !== undefined && { body }),
    });
  }

  /** Logs in once, however many requests found that the token has ended. */
  async function renewFrom(stale: string | undefined): Promise<void> {
    if (renew === undefined || token !== stale) return;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    token = await renewing;
  }

  const pause = (count: number, retryAfterMs = 0): Promise<void> => {
    const { firstPauseMs: minMs, pauseMs: maxMs } = limits;
    return wait(
      Math.max(Math.min(retryAfterMs, maxMs), backoffMs(count, { minMs, maxMs, random })),
    );
  };

  async function exchange<Result>(
    request: ApiRequest,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    requirePlainPath(request.path);
    let logins = 0;
    for (let count = 1; ; count += 1) {
      const used = token;
      try {
        const response = await attempt(request);
        wasReached = true;
        requireNoRedirect(url, response);
        const isRefused = response.status === 401 && request.isAnonymous !== true;
        if (isRefused && renew !== undefined && logins < limits.loginsPerRequestMax) {
          await response.body?.cancel();
          logins += 1;
          await renewFrom(used);
          count -= 1;
          continue;
        }
        if (isRefused && used !== undefined) {
          throw new LoginError(
            `${url} answered 401: the token is not valid (any more); ` +
              'give --username, or an access key',
          );
        }
        if (!isWorthAnotherTry(response.status, count, limits)) return await read(response);
        await response.body?.cancel();
        await pause(count, retryAfterMsOf(response));
      } catch (cause) {
        signal.throwIfAborted();
        if (isFinal(cause)) throw cause;
        if (!wasReached) {
          const advice = 'start one with kipimo serve, or give its address';
          throw new UnreachableError(`no service answers at ${url}: ${advice}`, { cause });
        }
        if (request.isOnce === true || count >= limits.attemptsMax) {
          throw new UnreachableError(`${url} does not answer`, { cause });
        }
        await pause(count);
      }
    }
  }

  const call = (request: ApiRequest): Promise<ApiAnswer> => exchange(request, readWhole(limits));

  return {
    url,
    call,
    async need(request, ...expected) {
      const answer = await call(request);
      if (expected.includes(answer.status)) return answer;
      throw refusal(request, answer);
    },
    open: (path) =>
      exchange({ method: 'GET', path }, async (response) => streamOf(response, limits)),
    authorize(fresh, renewToken) {
      token = fresh;
      renew = renewToken;
    },
    async logIn(username, password) {
      const json = { username, password };
      const request = { method: 'POST', path: '/auth/token', json, isAnonymous: true } as const;
      const freshToken = async (): Promise<string> => {
        const answer = await call(request);
        if (answer.status === 200) return answer.text.trim().replace(/^"(.*)"$/, '$1');
        if (answer.status !== 401 && answer.status !== 403) throw refusal(request, answer);
        throw new LoginError(`${url}: the password of ${printable(username)} is wrong`);
      };
      token = await freshToken();
      renew = freshToken;
    },
    pause,
  };
}

/** Whether another try would end alike. */
const isFinal = (cause: unknown): boolean =>
  cause instanceof UnreachableError ||
  cause instanceof LoginError ||
  cause instanceof RedirectError;

function isWorthAnotherTry(status: number, count: number, limits: ClientLimits): boolean {
  if (status === 500) return count < limits.faultAttemptsMax;
  return (status === 429 || status > 500) && status !== 501 && count < limits.attemptsMax;
}

function retryAfterMsOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return seconds >= 0 ? seconds * 1_000 : 0;
}

function totalOf(response: Response): number | undefined {
  const text = response.headers.get('x-total-count');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const readWhole =
  ({ answerBytesMax }: ClientLimits) =>
  async (response: Response): Promise<ApiAnswer> => {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const piece of response.body ?? []) {
      size += piece.byteLength;
      if (size > answerBytesMax) throw new Error('the answer is too long');
      parts.push(piece);
    }
    const text = Buffer.concat(parts).toString();
    return { status: response.status, text, json: parsed(text), total: totalOf(response) };
  };

function streamOf(response: Response, limits: ClientLimits): ApiStream {
  return {
    status: response.status,
    total: totalOf(response),
    pieces: response.body ?? (async function* () {})(),
    reason: async () => reasonOf(await readWhole(limits)(response)),
  };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    // Bare texts, such as a token, are no JSON; callers that want JSON check what came.
    return undefined;
  }
}

/** Answers why a service refused a request, for the person at the terminal. */
export function reasonOf(answer: ApiAnswer): string {
  const said = saidBy(answer);
  return said === '' ? `answered ${answer.status}` : `${said} (${answer.status})`;
}

/** Makes the error of a refused request, for the person at the terminal. */
export function refusal({ method, path }: ApiRequest, answer: ApiAnswer): Error {
  const said = saidBy(answer) || 'no reason';
  return new Error(`${method} ${path} was answered ${answer.status}: ${said}`);
}

function saidBy({ text, json }: ApiAnswer): string {
  const isRefusal = typeof json === 'object' && json !== null && 'description' in json;
  return printable(isRefusal ? String(json['description']) : text.slice(0, 200).trim());
}

/** A text in an object that came over the wire. */
export function textField(json: unknown, name: string): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(json, name)?.value;
  return typeof value === 'string' ? value : undefined;
}
