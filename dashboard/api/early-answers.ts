import type { Session } from './session-store.ts';

/** An answer that was asked for before the screen that wants it was there. */
interface EarlyAnswer {
  readonly authorization: string | undefined;
  readonly answer: Promise<Response>;
}

interface EarlyAnswers {
  /** When they were asked for: charts that end now end there, so that they ask the same. */
  readonly at: number;
  /** By the path and query of the request. */
  readonly answers: Map<string, EarlyAnswer>;
}

declare global {
  // The script in the head of the page hands them to the app, which is another file.
  var kipimoEarly: EarlyAnswers | undefined;
}

/** How old an answer may be that a screen still takes for fresh. */
const keptMs = 20_000;
/** The only address here that is posted to. */
const renewUrl = '/api/v2/auth/renew';

/** What the page of this session begins with. */
export interface EarlyQuestions {
  /** Addresses that the screen reads first. */
  readonly urls: readonly string[];
  /** Absent: a guest. */
  readonly session: Session | undefined;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly tokenLifeMs: number;
}

/**
 * Asks for these addresses now; the first request for each gets the answer. A token that is due
 * is renewed first, and the app takes that answer too: neither waits for its code.
 */
export function askEarly({ urls, session, now, tokenLifeMs }: EarlyQuestions): void {
  const answers = new Map<string, EarlyAnswer>();
  globalThis.kipimoEarly = { at: now, answers };
  const ask = (token: string | undefined): void => {
    for (const url of urls) {
      const init = { cache: 'no-cache', credentials: 'omit' } as const;
      answers.set(url, asked(url, init, { accept: 'application/json', token }));
    }
  };
  setTimeout(() => answers.clear(), keptMs);
  const ageMs = session === undefined ? 0 : now - session.obtainedAt;
  if (session === undefined || ageMs < tokenLifeMs / 2) {
    ask(session?.token);
    return;
  }
  // As the app does: a token that has ended is renewed by the cookie, which the browser adds.
  const isByCookie = ageMs >= tokenLifeMs && session.remembered === true;
  const token = isByCookie ? undefined : session.token;
  const init = { method: 'POST', cache: 'no-store', credentials: 'same-origin' } as const;
  const renewal = asked(renewUrl, init, { accept: 'text/plain', token });
  const answer = renewal.answer.then(async (response) => {
    // Before the app hears of the new token, so that it finds what is asked with it.
    if (response.ok) ask(await response.text());
    return response;
  });
  answer.catch(() => undefined);
  answers.set(renewUrl, { ...renewal, answer });
}

function asked(
  url: string,
  init: RequestInit,
  { accept, token }: { readonly accept: string; readonly token: string | undefined },
): EarlyAnswer {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const headers = { accept, ...(authorization && { authorization }) };
  const answer = fetch(url, { ...init, headers }).then(read);
  // Whoever takes it hears of its failure; nobody may.
  answer.catch(() => undefined);
  return { authorization, answer };
}

/**
 * The answer with its body read, and parsed while the app is still on its way: who takes it has it
 * without another turn of the page.
 */
async function read(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, statusText, headers } = response;
  const parsed = Promise.resolve(text).then((json): unknown => JSON.parse(json));
  // Whoever asks for it hears that it is none.
  parsed.catch(() => undefined);
  const whole = new Response(text === '' ? null : text, { status, statusText, headers });
  return Object.assign(whole, { text: () => Promise.resolve(text), json: () => parsed });
}

/** The answer that is on its way for this request, once; undefined when nobody asked. */
export function takeEarly(
  url: string,
  init: RequestInit | undefined,
): Promise<Response> | undefined {
  const answers = globalThis.kipimoEarly?.answers;
  const found = answers?.get(url);
  const method = url === renewUrl ? 'POST' : 'GET';
  if (answers === undefined || found === undefined || (init?.method ?? 'GET') !== method) {
    return undefined;
  }
  const authorization = new Headers(init?.headers).get('authorization') ?? undefined;
  if (authorization !== found.authorization) return undefined;
  answers.delete(url);
  return found.answer;
}

/** Now, or, on a page that has just begun, the instant that its first charts were asked for. */
export function nowOrStart(now: number): number {
  const at = globalThis.kipimoEarly?.at ?? Number.NEGATIVE_INFINITY;
  return now - at < keptMs ? at : now;
}
