import { loadRefusals } from '../i18n/refusals.ts';
import { ApiError, type ExactRefusal } from './api-error.ts';
import { exact, jsonOf } from './long-numbers.ts';
import { createOwedLogouts } from './owed-logouts.ts';
import { type Query, queryText } from './query-text.ts';
import type { Session, SessionStore } from './session-store.ts';

export interface ApiRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v2, with ids already encoded. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, as text/plain unless `type` says otherwise. */
  readonly body?: string | Blob;
  readonly type?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

export interface ApiClient {
  /** The answer when it is a success; throws ApiError otherwise. */
  request(request: ApiRequest): Promise<Response>;
  getJson<Answer>(request: ApiRequest): Promise<Answer>;
  getPage<Item>(request: ApiRequest): Promise<Page<Item>>;
  /** For answers that hold nothing or a bare text, such as a new id. */
  send(request: ApiRequest): Promise<string>;
  /** `remember`: stay logged in on this device; absent: as before. */
  logIn(username: string, password: string, remember?: boolean): Promise<void>;
  /** As logIn, with the secret of the link that the first start printed. */
  logInFirst(
    link: { readonly secret: string; readonly password?: string },
    remember: boolean,
  ): Promise<void>;
  logOut(): Promise<void>;
  /**
   * Says the logouts that are owed, then asks for a fresh token when the one at hand is past half
   * of its life.
   */
  renewIfDue(): Promise<void>;
  /** The token at hand, for other doors such as MQTT. */
  session(): Session | undefined;
}

export interface ApiClientOptions {
  readonly fetch: typeof fetch;
  readonly store: SessionStore;
  readonly now: () => number;
  readonly tokenLifeMs: number;
  /** Called whenever somebody logs in, is renewed, leaves, or is thrown out (ended). */
  readonly onSession: (session: Session | undefined, cause: 'changed' | 'ended') => void;
}

const base = '/api/v2';

/** The API as a page sees it: adds the token, renews it in silence, turns refusals into errors. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { store, now, tokenLifeMs, onSession } = options;
  let renewal: Promise<void> | undefined;
  const settleLogouts = createOwedLogouts({
    ...{ store, renewRequest, errorOf },
    send: (wanted, token) => fetchOnce(options.fetch, wanted, token),
  });

  async function request(wanted: ApiRequest): Promise<Response> {
    await renewIfDue();
    const session = store.read();
    const response = await fetchOnce(options.fetch, wanted, session?.token);
    if (response.ok) return response;
    if (response.status !== 401 || session === undefined) throw await errorOf(response);
    if (session.remembered === true && store.read()?.token === session.token) {
      await renewOnce(() => renewBy(undefined, session));
    }
    // This or another tab may hold a fresher token.
    const current = store.read();
    if (current !== undefined && current.token !== session.token) {
      const second = await fetchOnce(options.fetch, wanted, current.token);
      if (second.ok) return second;
      if (second.status !== 401) throw await errorOf(second);
    }
    const error = await errorOf(response);
    end();
    throw error;
  }

  function end(): void {
    store.clear();
    onSession(undefined, 'ended');
  }

  async function renewIfDue(): Promise<void> {
    await settleLogouts();
    const session = store.read();
    if (session === undefined || now() - session.obtainedAt < tokenLifeMs / 2) return;
    await renewOnce(() => renew(session));
  }

  /** One renewal at a time; who asks meanwhile waits for it. */
  async function renewOnce(work: () => Promise<void>): Promise<void> {
    renewal ??= work().finally(() => {
      renewal = undefined;
    });
    await renewal;
  }

  /** By the token at hand; by the cookie, which only the browser sees, where that has ended. */
  function renew(session: Session): Promise<void> {
    const hasEnded = now() - session.obtainedAt >= tokenLifeMs;
    return renewBy(hasEnded && session.remembered === true ? undefined : session.token, session);
  }

  async function renewBy(token: string | undefined, session: Session): Promise<void> {
    let response: Response;
    try {
      response = await fetchOnce(options.fetch, renewRequest, token);
    } catch {
      // Without network the old token may still be good when it is back.
      return;
    }
    if (store.read()?.token !== session.token) return;
    if (response.ok) keep(await response.text(), session);
    // Anything else may pass: a service that is busy or starting has ended no login.
    else if ([401, 403].includes(response.status)) {
      if (token !== undefined && session.remembered === true) await renewBy(undefined, session);
      else end();
    }
  }

  function keep(token: string, { username, remembered }: Omit<Session, 'token' | 'obtainedAt'>) {
    const session: Session = {
      ...{ token, username, obtainedAt: now() },
      ...(remembered === true && { remembered }),
    };
    store.write(session);
    onSession(session, 'changed');
  }

  async function open(path: string, login: object, remember: boolean | undefined): Promise<void> {
    await settleLogouts();
    const json = { ...login, ...(remember === true && { remember }) };
    const wanted = { method: 'POST', path, json, accept: 'text/plain' } as const;
    const response = await fetchOnce(options.fetch, wanted, undefined);
    if (!response.ok) throw await errorOf(response);
    const token = await response.text();
    keep(token, {
      username: await usernameOf(options.fetch, token),
      ...(remember === true && { remembered: true }),
    });
  }

  const ask = (wanted: ApiRequest) => request({ accept: jsonType, ...wanted });

  return {
    request,
    renewIfDue,
    session: () => store.read(),
    getJson: async <Answer>(wanted: ApiRequest) => (await jsonOf(await ask(wanted))) as Answer,
    async getPage<Item>(wanted: ApiRequest) {
      const response = await ask(wanted);
      const items = (await jsonOf(response)) as readonly Item[];
      const total = response.headers.get('x-total-count');
      return { items, total: total === null ? items.length : Number(total) };
    },
    async send(wanted) {
      return (await request({ accept: 'text/plain', ...wanted })).text();
    },
    async logIn(username, password, remember) {
      const before = store.read();
      if (remember === undefined && before?.remembered === true) {
        // The cookie outlives a new password.
        await renewOnce(() => renewBy(undefined, before));
        if (store.read()?.token !== before.token && store.read() !== undefined) return;
      }
      await open('/auth/token', { username: username.trim(), password }, remember);
    },
    logInFirst: (link, remember) => open('/auth/first', link, remember),
    async logOut() {
      const session = store.read();
      store.clear();
      onSession(undefined, 'changed');
      if (session === undefined) return;
      const { token, remembered } = session;
      store.setOwed([...store.owed(), { token, ...(remembered && { remembered }) }]);
      // Without network it stays owed.
      await settleLogouts().catch(() => undefined);
    },
  };
}

/** People may log in by e-mail; the API names things by username. */
async function usernameOf(fetcher: typeof fetch, token: string): Promise<string> {
  const wanted = { path: '/users/me', accept: 'application/json' };
  const response = await fetchOnce(fetcher, wanted, token);
  if (!response.ok) throw await errorOf(response);
  const { username } = (await response.json()) as { readonly username: string };
  return username;
}

async function fetchOnce(
  fetcher: typeof fetch,
  wanted: ApiRequest,
  token: string | undefined,
): Promise<Response> {
  const { method = 'GET', json, type, accept, signal } = wanted;
  const body = json === undefined ? wanted.body : exact.json(json);
  const contentType = json === undefined ? (type ?? 'text/plain; charset=utf-8') : jsonType;
  const shown = globalThis.document?.documentElement.lang;
  requirePlainPath(wanted.path);
  try {
    return await fetcher(base + wanted.path + queryText(wanted.query), {
      method,
      // What has not changed is not sent again: the browser asks by its ETag.
      cache: method === 'GET' ? 'no-cache' : 'no-store',
      // Only these paths know cookies: those that keep a browser logged in.
      credentials: cookiePaths.has(wanted.path) ? 'same-origin' : 'omit',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(accept !== undefined && { accept }),
        // Messages that the service sends are in the language of the dashboard.
        ...(method === 'POST' && shown !== undefined && { 'accept-language': shown }),
        ...(body !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ApiError({ status: 0, code: 'offline', description: 'no answer', cause });
  }
}

/** Browsers take `.` and `..` out of a path, encoded or not, and would send another request. */
function requirePlainPath(path: string): void {
  if (!/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return;
  const description = 'a name cannot be "." or ".."';
  throw new ApiError({ status: 400, code: 'invalid', description });
}

const jsonType = 'application/json';
const cookiePaths: ReadonlySet<string> = new Set(['/auth/token', '/auth/first', '/auth/renew']);
const renewRequest = { method: 'POST', path: '/auth/renew', accept: 'text/plain' } as const;

const exactOf = (code: string, params: unknown): ExactRefusal => ({
  code,
  params: typeof params === 'object' && params !== null ? (params as ExactRefusal['params']) : {},
});

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const { status } = response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  try {
    const { error, description, ...more } = JSON.parse(text) as Partial<
      Record<'error' | 'description' | 'code' | 'params', unknown>
    >;
    const code = typeof error === 'string' ? error : 'internal';
    const sentence = typeof description === 'string' ? description : response.statusText;
    const exact = typeof more.code === 'string' ? exactOf(more.code, more.params) : undefined;
    // A login that has ended is told in words that are there.
    if (exact !== undefined && status !== 401) await loadRefusals();
    return new ApiError({ status, code, description: sentence, exact, retryAfterSeconds });
  } catch {
    const description = text.slice(0, 200) || response.statusText;
    // A proxy says that the service behind it does not answer, as when it starts again.
    const code = status > 501 ? 'offline' : 'internal';
    return new ApiError({ status, code, description, retryAfterSeconds });
  }
}
