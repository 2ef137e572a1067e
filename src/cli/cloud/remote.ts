import { backoffMs } from '../../lib/backoff.ts';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import { RedirectError, requireNoRedirect, unfollowed } from '../foreign-answers.ts';
import { printable } from '../printable.ts';
import { cloudLimits } from './cloud-limits.ts';

export interface RemoteRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below /api/v2. */
  readonly path: string;
  readonly json?: unknown;
  /** Instead of json: newline-delimited JSON. */
  readonly lines?: string;
  /** Sent without a token. */
  readonly isAnonymous?: boolean;
  /** Not sent again when the answer is lost: it would be done twice. */
  readonly isOnce?: boolean;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: JsonValue | undefined;
  readonly total: number | undefined;
}

export interface RemoteStream {
  readonly status: number;
  readonly total: number | undefined;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Why it is no stream of datapoints. */
  reason(): Promise<string>;
}

/** The service cannot be reached, or stays too busy; another run may go on. */
export class UnreachableError extends Error {}

/** A service that speaks version 2 of the API, seen as one account. */
export interface Remote {
  readonly url: string;
  /** Answers what the service said, after tries within limits. Throws UnreachableError. */
  call(request: RemoteRequest): Promise<RemoteAnswer>;
  /** The same with a body that is read as it arrives; a break in it is the reader's matter. */
  open(path: string): Promise<RemoteStream>;
  useToken(token: string): void;
  /** Logs in now, and again whenever the token has ended. */
  logIn(username: string, password: string): Promise<void>;
  /** Resolves after the pause before this try. */
  pause(attempt: number): Promise<void>;
}

export interface RemoteOptions {
  /** For instance https://api.example.org; /api/v2 at its end is understood. */
  readonly url: string;
  readonly signal: AbortSignal;
  readonly wait: (delayMs: number) => Promise<void>;
  readonly random: () => number;
}

/** A client that logs in again, waits and tries again, within limits. */
export function createRemote({ url: given, signal, wait, random }: RemoteOptions): Remote {
  const url = given.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  let token: string | undefined;
  let renew: (() => Promise<string>) | undefined;
  let renewing: Promise<string> | undefined;
  let wasReached = false;

  function attempt(request: RemoteRequest): Promise<Response> {
    const { method, path, json, lines, isAnonymous = false } = request;
    const body = json === undefined ? lines : JSON.stringify(json);
    const type = json === undefined ? 'application/x-ndjson' : 'application/json';
    return fetch(`${url}/api/v2${path}`, {
      ...unfollowed,
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(cloudLimits.requestMs)]),
      headers: {
        ...(token !== undefined && !isAnonymous && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': type, 'kipimo-import': 'true' }),
      },
      ...(body !== undefined && { body }),
    });
  }

  /** One login, however many requests found that the token has ended. */
  async function renewFrom(stale: string | undefined): Promise<void> {
    if (renew === undefined || token !== stale) return;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    token = await renewing;
  }

  const pause = (count: number, retryAfterMs = 0): Promise<void> => {
    const { firstPauseMs: minMs, pauseMs: maxMs } = cloudLimits;
    return wait(
      Math.max(Math.min(retryAfterMs, maxMs), backoffMs(count, { minMs, maxMs, random })),
    );
  };

  async function exchange<Result>(
    request: RemoteRequest,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    let logins = 0;
    for (let count = 1; ; count += 1) {
      const used = token;
      try {
        const response = await attempt(request);
        wasReached = true;
        requireNoRedirect(url, response);
        const mayLogIn = renew !== undefined && request.isAnonymous !== true;
        if (response.status === 401 && mayLogIn && logins < cloudLimits.loginsPerRequestMax) {
          await response.body?.cancel();
          logins += 1;
          await renewFrom(used);
          count -= 1;
          continue;
        }
        if (response.status === 401 && token !== undefined && renew === undefined) {
          throw new LoginError(`${url}: the token is not valid (any more)`);
        }
        if (!isWorthAnotherTry(response.status, count)) return await read(response);
        await response.body?.cancel();
        await pause(count, retryAfterMsOf(response));
      } catch (cause) {
        signal.throwIfAborted();
        if (isFinal(cause)) throw cause;
        if (!wasReached || request.isOnce === true || count >= cloudLimits.attemptsMax) {
          throw new UnreachableError(`${url} does not answer`, { cause });
        }
        await pause(count);
      }
    }
  }

  return {
    url,
    call: (request) => exchange(request, readWhole),
    open: (path) => exchange({ method: 'GET', path }, async (response) => streamOf(response)),
    useToken(given) {
      token = given;
    },
    async logIn(username, password) {
      const json = { username, password };
      const request = { method: 'POST', path: '/auth/token', json, isAnonymous: true } as const;
      renew = async () => {
        const { status, text } = await exchange(request, readWhole);
        if (status === 200) return text.trim().replace(/^"(.*)"$/, '$1');
        const isWrong = status === 401 || status === 403;
        const reason = isWrong ? `the password of ${username} is wrong` : `login: ${status}`;
        throw new LoginError(`${url}: ${reason}`);
      };
      token = await renew();
    },
    pause,
  };
}

class LoginError extends Error {}

/** Whether another try would end alike. */
const isFinal = (cause: unknown): boolean =>
  cause instanceof UnreachableError ||
  cause instanceof LoginError ||
  cause instanceof RedirectError;

function isWorthAnotherTry(status: number, count: number): boolean {
  if (status === 500) return count < cloudLimits.faultAttemptsMax;
  return (status === 429 || status > 500) && status !== 501 && count < cloudLimits.attemptsMax;
}

function retryAfterMsOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return seconds >= 0 ? seconds * 1_000 : 0;
}

function totalOf(response: Response): number | undefined {
  const text = response.headers.get('x-total-count');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

async function readWhole(response: Response): Promise<RemoteAnswer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.byteLength;
    if (size > cloudLimits.answerBytesMax) throw new Error('the answer is too long');
    parts.push(piece);
  }
  const text = Buffer.concat(parts).toString();
  return { status: response.status, text, json: parsed(text), total: totalOf(response) };
}

function streamOf(response: Response): RemoteStream {
  return {
    status: response.status,
    total: totalOf(response),
    pieces: response.body ?? (async function* () {})(),
    reason: async () => reasonOf(await readWhole(response)),
  };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    // Bare texts, such as a token, are no JSON; whoever wants JSON looks at what came.
    return undefined;
  }
}

/** What a service said against a request, for the person at the terminal. */
export function reasonOf({ status, text, json }: RemoteAnswer): string {
  const said = typeof json === 'object' && json !== null && 'description' in json;
  const reason = printable(said ? String(json.description) : text.slice(0, 200).trim());
  return reason === '' ? `answered ${status}` : `${reason} (${status})`;
}
