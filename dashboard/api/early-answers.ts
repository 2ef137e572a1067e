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

/** Asks for these addresses now; the first request for each gets the answer. */
export function askEarly(
  urls: readonly string[],
  { token, now }: { readonly token: string | undefined; readonly now: number },
): void {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const answers = new Map<string, EarlyAnswer>();
  globalThis.kipimoEarly = { at: now, answers };
  for (const url of urls) {
    const answer = fetch(url, {
      cache: 'no-cache',
      credentials: 'omit',
      headers: { accept: 'application/json', ...(authorization && { authorization }) },
    }).then(read);
    // Whoever takes it hears of its failure; nobody may.
    answer.catch(() => undefined);
    answers.set(url, { authorization, answer });
  }
  setTimeout(() => answers.clear(), keptMs);
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
  if (answers === undefined || found === undefined || (init?.method ?? 'GET') !== 'GET') {
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
