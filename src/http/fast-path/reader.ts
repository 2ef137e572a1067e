import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../../domain/limits.ts';

/** The request line of a hot request, and the names of what its path holds. */
export interface HotPattern<Target> {
  readonly pattern: RegExp;
  readonly paramNames: readonly string[];
  readonly hasBody: boolean;
  readonly target: Target;
}

/** The header fields of a request, as they were written and as they were read. */
export interface HotHead {
  /** The fields with the empty line behind them: the same text is read once. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** 0: none was announced. */
  readonly bodyBytes: number;
  readonly hasAcceptEncoding: boolean;
}

/** The parts of its latest request that a connection keeps. */
export interface KeptRequest<Target> {
  readonly line: HotPattern<Target>;
  readonly head: HotHead;
}

/** A request whose head is whole and plain; its body may still be under way. */
export interface HotRequest<Target> {
  readonly line: HotPattern<Target>;
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly head: HotHead;
  readonly kept: KeptRequest<Target>;
  /** Where its body begins in the bytes, and where the next request does. */
  readonly bodyAt: number;
  readonly end: number;
}

/** An id that stands for itself in a path: nothing to decode, and no step of a relative path. */
const plainId = '([\\w~:-][\\w.~:-]{0,255})';

/** `path` is that of a route, with :parameters, below `prefix`. */
export function hotPattern<Target>(
  method: 'GET' | 'POST',
  path: string,
  target: Target,
): HotPattern<Target> {
  const pattern = path.replaceAll(/:\w+/g, plainId);
  return {
    pattern: new RegExp(`^${method} (${pattern}) HTTP/1\\.1\r\n`),
    paramNames: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    hasBody: method === 'POST',
    target,
  };
}

/**
 * Reads one request at `at`. Strictly: undefined is whatever is not exactly a hot request with a
 * whole and plain head, be it unusual, wrong or cut off. `latest` is what was kept of the request
 * before on the connection: its line is tried first, and the same head is not read again.
 */
export function readHotRequest<Target>(
  bytes: Buffer,
  at: number,
  lines: readonly HotPattern<Target>[],
  latest: KeptRequest<Target> | undefined,
): HotRequest<Target> | undefined {
  const text = bytes.toString('latin1', at, Math.min(bytes.length, at + limits.shortHeadBytesMax));
  let line = latest?.line;
  let found = line?.pattern.exec(text) ?? null;
  for (let next = 0; found === null; next += 1) {
    line = lines[next];
    if (line === undefined) return undefined;
    found = line.pattern.exec(text);
  }
  if (line === undefined) return undefined;
  const fieldsAt = found[0].length;
  const isSame = latest !== undefined && text.startsWith(latest.head.text, fieldsAt);
  const head = isSame ? latest.head : readHead(text, fieldsAt);
  if (head === undefined || !fits(head, line)) return undefined;
  const bodyAt = at + fieldsAt + head.text.length;
  return {
    line,
    head,
    kept: isSame && latest.line === line ? latest : { line, head },
    bodyAt,
    url: found[1] ?? '',
    params: paramsOf(line, found),
    end: bodyAt + head.bodyBytes,
  };
}

function fits(
  { bodyBytes, hasAcceptEncoding }: HotHead,
  { hasBody }: HotPattern<unknown>,
): boolean {
  // Answers to pushes are never compressed.
  return hasBody ? bodyBytes > 0 : bodyBytes === 0 && !hasAcceptEncoding;
}

function paramsOf(
  { paramNames }: HotPattern<unknown>,
  found: RegExpExecArray,
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (let at = 0; at < paramNames.length; at += 1) {
    params[paramNames[at] as string] = found[at + 2] ?? '';
  }
  return params;
}

/** A header field: a name, a value with single spaces inside, and no other white space. */
const field = /([A-Za-z][A-Za-z\d-]*): ?([\x21-\x7e]+(?: [\x21-\x7e]+)*)\r\n/y;

/** Fields that say nothing of how the bytes on the connection are to be understood. */
const harmless: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'connection',
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'date',
  'forwarded',
  'from',
  'kipimo-import',
  'pragma',
  'priority',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-request-id',
]);

const usualType = /^(?:application\/json|text\/plain)(?:; ?charset=(?:utf-8|UTF-8))?$|^text\/csv$/;

/** undefined: a field is unusual, written oddly, there twice, or not all of them are there. */
function readHead(request: string, fieldsAt: number): HotHead | undefined {
  const headers = new Map<string, string>();
  const end = request.indexOf('\r\n\r\n', fieldsAt);
  const text = request.slice(fieldsAt, end + 4);
  if (end < 0) return undefined;
  let at = 0;
  while (at < text.length - 2) {
    field.lastIndex = at;
    const [, name = '', value = ''] = field.exec(text) ?? [];
    const key = name.toLowerCase();
    if (!harmless.has(key) || headers.has(key)) return undefined;
    headers.set(key, value);
    at = field.lastIndex;
  }
  const length = headers.get('content-length');
  const type = headers.get('content-type');
  const connection = headers.get('connection') ?? 'keep-alive';
  if (
    !headers.has('host') ||
    (length !== undefined && !/^[1-9]\d{0,5}$/.test(length)) ||
    Number(length ?? 0) > limits.freeBodyBytes ||
    (type !== undefined && !usualType.test(type)) ||
    connection.toLowerCase() !== 'keep-alive'
  ) {
    return undefined;
  }
  return {
    text,
    headers: Object.fromEntries(headers),
    bodyBytes: Number(length ?? 0),
    hasAcceptEncoding: headers.has('accept-encoding'),
  };
}
