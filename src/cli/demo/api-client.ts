import { requireNoRedirect, requirePlainPath, unfollowed } from '../foreign-answers.ts';
import { printable } from '../printable.ts';
import { demoLimits } from './demo-limits.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below /api/v2. */
  readonly path: string;
  readonly json?: unknown;
  /** Sent without a token: logging in and signing up. */
  readonly isAnonymous?: boolean;
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

/** Sends requests to version 2 of a service, as one account. */
export interface ApiClient {
  /** Answers whatever the service said; throws when it cannot be reached or stays too busy. */
  call(request: ApiRequest): Promise<ApiAnswer>;
  /** Like call, and throws when the status is none of `expected`. */
  need(request: ApiRequest, ...expected: readonly number[]): Promise<ApiAnswer>;
  /** From now on requests carry this token; `renew` gets another when it has expired. */
  authorize(token: string, renew?: () => Promise<string>): void;
}

export interface ApiClientOptions {
  /** For instance http://127.0.0.1:8080. */
  readonly url: string;
  /** Waits between attempts. */
  readonly wait: (delayMs: number) => Promise<void>;
  /** Ends what is under way when the run is stopped. */
  readonly signal: AbortSignal;
  /** Says so with each request: what an administrator imports may be larger than usual. */
  readonly isImporting?: boolean;
}

/** A client that tries again, within limits, when the service is away or busy. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { url, wait, signal, isImporting = false } = options;
  const base = `${url.replace(/\/+$/, '')}/api/v2`;
  let token: string | undefined;
  let renewToken: (() => Promise<string>) | undefined;
  let wasReached = false;

  async function attempt(request: ApiRequest): Promise<Response> {
    const { method, path, json, isAnonymous = false } = request;
    return fetch(base + path, {
      ...unfollowed,
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(demoLimits.requestMs)]),
      headers: {
        ...(token !== undefined && !isAnonymous && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(isImporting && { 'kipimo-import': 'true' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  }

  /** Undefined: nothing came back. Nobody waits for a service that was never there. */
  async function tryOnce(request: ApiRequest, isLast: boolean): Promise<Response | undefined> {
    try {
      const response = await attempt(request);
      wasReached = true;
      return response;
    } catch (cause) {
      signal.throwIfAborted();
      if (wasReached && !isLast) return undefined;
      throw new Error(`no service answers at ${url}: start one with kipimo serve, or give --url`, {
        cause,
      });
    }
  }

  async function send(request: ApiRequest): Promise<Response> {
    requirePlainPath(request.path);
    for (let count = 1; ; count += 1) {
      const isLast = count === demoLimits.attemptsMax;
      const response = await tryOnce(request, isLast);
      if (response !== undefined) requireNoRedirect(url, response);
      const isBusy = response === undefined || response.status === 503 || response.status === 429;
      if (response !== undefined && (!isBusy || isLast)) return response;
      await wait(retryDelayMs(count, response));
    }
  }

  async function call(request: ApiRequest): Promise<ApiAnswer> {
    let response = await send(request);
    if (response.status === 401 && renewToken !== undefined && request.isAnonymous !== true) {
      token = await renewToken();
      response = await send(request);
    }
    const text = await response.text();
    return { status: response.status, text, json: parsed(text) };
  }

  return {
    call,
    async need(request, ...expected) {
      const answer = await call(request);
      if (expected.includes(answer.status)) return answer;
      throw refusal(request, answer);
    },
    authorize(fresh, renew) {
      token = fresh;
      renewToken = renew;
    },
  };
}

function retryDelayMs(count: number, response: Response | undefined): number {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  const wanted = seconds >= 0 ? seconds * 1_000 : demoLimits.firstRetryMs * 2 ** (count - 1);
  return Math.min(wanted, demoLimits.retryMs);
}

/** What a refused request becomes for the person at the terminal. */
export function refusal({ method, path }: ApiRequest, { status, text, json }: ApiAnswer): Error {
  const said = typeof json === 'object' && json !== null && 'description' in json;
  const reason = printable(said ? String(json.description) : text.slice(0, 200));
  const hint =
    status === 401 ? '; the token is not valid (any more): give --username, or an access key' : '';
  return new Error(`${method} ${path} was answered ${status}: ${reason || 'no reason'}${hint}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Bare texts, such as a token, are no JSON; whoever wants JSON looks at what came.
    return undefined;
  }
}
