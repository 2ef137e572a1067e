import { type PlainReply, plainRequest } from './plain-http.ts';

export interface PageRequest {
  readonly method?: string;
  /** From the root of the service, or a reference that an earlier answer gave. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a script may see of an answer: of the headers only what the service exposes. */
export interface PageReply {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  header(name: string): string | undefined;
}

/** Fetches as a browser does for a page of another origin. Throws where a browser would refuse. */
export function createPage(
  serviceUrl: string,
  origin: string,
): (request: PageRequest) => Promise<PageReply> {
  return async ({ method = 'GET', path, headers = {}, body }) => {
    const url = new URL(path, serviceUrl).href;
    const unsafe = Object.entries(headers).filter(isUnsafe);
    if (unsafe.length > 0 || !simpleMethods.includes(method)) {
      const names = unsafe.map(([name]) => name.toLowerCase()).sort();
      await askFirst({ url, origin, method, names });
    }
    const reply = await plainRequest({
      url,
      method,
      headers: { ...headers, Origin: origin },
      ...(body !== undefined && { body }),
    });
    if (!isAllowed(reply, origin)) throw new Error(`${method} ${url}: the answer is kept away`);
    const exposed = [...safeAnswerHeaders, ...wordsOf(reply, 'access-control-expose-headers')];
    return {
      status: reply.status,
      url,
      text: reply.text,
      header: (name) => {
        const value = reply.headers[name.toLowerCase()];
        if (!exposed.includes(name.toLowerCase())) return undefined;
        return typeof value === 'string' ? value : undefined;
      },
    };
  };
}

const simpleMethods: readonly string[] = ['GET', 'HEAD', 'POST'];
const safeRequestHeaders: readonly string[] = ['accept', 'accept-language', 'content-language'];
const safeAnswerHeaders: readonly string[] = ['content-type', 'content-length', 'cache-control'];
const safeTypes = /^(text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)(;|$)/;

function isUnsafe([name, value]: readonly [string, string]): boolean {
  if (name.toLowerCase() === 'content-type') return !safeTypes.test(value);
  return !safeRequestHeaders.includes(name.toLowerCase());
}

/** The preflight: without credentials, and before anything else [Fetch 4.8]. */
async function askFirst(asked: {
  readonly url: string;
  readonly origin: string;
  readonly method: string;
  readonly names: readonly string[];
}): Promise<void> {
  const { url, origin, method, names } = asked;
  const reply = await plainRequest({
    url,
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      ...(names.length > 0 && { 'Access-Control-Request-Headers': names.join(',') }),
    },
  });
  const methods = wordsOf(reply, 'access-control-allow-methods');
  const allowed = wordsOf(reply, 'access-control-allow-headers');
  const refusals = [
    ...(reply.status < 200 || reply.status > 299 ? [`status ${reply.status}`] : []),
    ...(isAllowed(reply, origin) ? [] : [`origin ${origin}`]),
    ...(methods.includes(method.toLowerCase()) || simpleMethods.includes(method) ? [] : [method]),
    ...names.filter((name) => !allowed.includes(name)),
  ];
  if (refusals.length > 0) throw new Error(`${method} ${url}: not allowed: ${refusals.join(', ')}`);
}

const isAllowed = ({ headers }: PlainReply, origin: string): boolean =>
  ['*', origin].includes(String(headers['access-control-allow-origin']));

const wordsOf = ({ headers }: PlainReply, name: string): readonly string[] =>
  String(headers[name] ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim());
