import { requestLimits } from './request-limits.ts';

/** The facts in the head of a request on the bytes behind it and on its connection. */
export interface RequestHead {
  /** A head for node:http instead: a URI, lines that end with CRLF, at most one Content-Length. */
  readonly instead: Buffer | undefined;
  /** How many bytes the body has; 'chunked': its own lines say. */
  readonly body: number | 'chunked';
  readonly fields: number;
  /** No further request is read from the connection [RFC 9112 9.6]. */
  readonly isLast: boolean;
  /** The answer is the body alone, as before HTTP had versions. */
  readonly isBare: boolean;
}

const [lf, cr] = [0x0a, 0x0d];

/** Where the first line begins: empty lines before a request are skipped [RFC 9112 2.2]. */
export function headStart(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === lf || (bytes[at] === cr && bytes[at + 1] === lf)) {
    at += bytes[at] === lf ? 1 : 2;
  }
  return at;
}

/** Whether the bytes, of which more may come, begin as all methods do that node:http knows. */
export const mayBeRequest = (bytes: Buffer): boolean =>
  /^[A-Z-]{1,16}( |$)/.test(bytes.toString('latin1', 0, 18));

/** Where the head ends whose lines end with CRLF or LF [RFC 9112 2.2]; -1: not yet. */
export function headEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(lf, from); at >= 0; at = bytes.indexOf(lf, at + 1)) {
    if (bytes[at + 1] === lf) return at + 2;
    if (bytes[at + 1] === cr && bytes[at + 2] === lf) return at + 3;
  }
  return -1;
}

const requestLine = /[!#$%&'*+.^_`|~\w-]+ [!-~]+ HTTP\/1\.[01]\r?\n/y;
/** A request line whose target has raw bytes that a URI would escape, as curl and sketches send. */
const wideLine = /^[!#$%&'*+.^_`|~\w-]+ [!-~\x80-\xff]+ HTTP\/1\.[01]\r?\n/;
/** The fields of a whole head and its empty line. */
const fieldLines = /(?:[!#$%&'*+.^_`|~\w-]+:[^\r\n]*\r?\n)*\r?\n$/y;
const bareLine = /^GET (\/[!-~\x80-\xff]*) ?\r?\n/;
const loneLine = /^GET (\/[!-~\x80-\xff]*) HTTP\/1\.[01]\r?\n$/;
/** Where sketches for ThingSpeak push by GET. */
const sketchTarget = /^\/update(?:\.\w+)?(?:\?|$)/;
const lengthPattern = /^\d{1,19}$/;

/** The fields that say where the request ends. */
interface Framing {
  readonly lengths: string[];
  readonly codings: string[];
  connection: string;
  hosts: number;
  fields: number;
  hasLoneLf: boolean;
  /** Of HTTP/1.0. */
  isOld: boolean;
}

/**
 * Reads the heads of one connection. Strictly: each line has its place in the grammar of RFC
 * 9112, or the request is refused, so that no other parser can find another end of it.
 */
export class HeadReader {
  /** Most requests of a connection differ in their first line alone. */
  #known: { readonly fields: string; readonly head: RequestHead } | undefined;

  /** Reads a whole head, up to its `end`; undefined: it is none. */
  read(bytes: Buffer, end: number): RequestHead | undefined {
    const text = bytes.toString('latin1', 0, end);
    requestLine.lastIndex = 0;
    if (!requestLine.test(text)) return this.#readWide(text) ?? readBareRequest(text);
    // From the version on: what the first line ends with belongs to what is known.
    const at = requestLine.lastIndex - 3;
    const known = this.#known;
    if (known?.fields.length === end - at && text.endsWith(known.fields)) return known.head;
    fieldLines.lastIndex = at + 3;
    const head = fieldLines.test(text) ? headOf(text) : undefined;
    const isPlain = head !== undefined && head.instead === undefined;
    const isKept = isPlain && end - at <= requestLimits.keptFieldsBytesMax;
    this.#known = isKept ? { fields: text.slice(at), head } : undefined;
    return head;
  }

  /** Reads a head whose target is to be written as a URI first. */
  #readWide(text: string): RequestHead | undefined {
    const [line] = wideLine.exec(text) ?? [];
    if (line === undefined) return undefined;
    const bytes = Buffer.from(asUri(line) + text.slice(line.length), 'latin1');
    const head = this.read(bytes, bytes.length);
    return head && { ...head, instead: head.instead ?? bytes };
  }
}

/** Each byte that no URI has, in its percent-encoding [RFC 3986 2.1]. */
const asUri = (text: string): string =>
  text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);

/** Reads a head whose grammar is right. */
function headOf(text: string): RequestHead | undefined {
  const framing = readFields(text);
  const body = framing.hosts > 1 ? undefined : bodyOf(framing);
  if (body === undefined) return undefined;
  const { connection, hasLoneLf, isOld, lengths } = framing;
  return {
    instead: hasLoneLf || lengths.length > 1 ? plainHead(text, framing) : undefined,
    body,
    fields: framing.fields,
    isLast: connection === '' ? isOld : isLast(connection, isOld),
    isBare: false,
  };
}

function isLast(connection: string, isOld: boolean): boolean {
  const said = connection.toLowerCase().split(',').map(trim);
  return isOld ? !said.includes('keep-alive') : said.includes('close');
}

/** Reads the fields of a whole head. */
function readFields(text: string): Framing {
  const found: Framing = {
    ...{ lengths: [], codings: [], connection: '' },
    ...{ hosts: 0, fields: 0, hasLoneLf: false, isOld: false },
  };
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = text.indexOf('\n', at);
    const hasCr = text.charCodeAt(end - 1) === cr;
    found.hasLoneLf ||= !hasCr;
    const lineEnd = hasCr ? end - 1 : end;
    if (at === 0) found.isOld = text.charAt(lineEnd - 1) === '0';
    else if (lineEnd > at) {
      found.fields += 1;
      note(text, at, lineEnd, found);
    }
  }
  return found;
}

/** Most fields are told from these by their length. */
function note(text: string, at: number, end: number, found: Framing): void {
  const nameEnd = text.indexOf(':', at);
  const isCalled = (name: string) => text.slice(at, nameEnd).toLowerCase() === name;
  const value = () => trim(text.slice(nameEnd + 1, end));
  switch (nameEnd - at) {
    case 4:
      if (isCalled('host')) found.hosts += 1;
      break;
    case 10:
      if (isCalled('connection')) found.connection += `,${value()}`;
      break;
    case 14:
      if (isCalled('content-length')) found.lengths.push(...value().split(','));
      break;
    case 17:
      if (isCalled('transfer-encoding')) found.codings.push(value());
      break;
  }
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** Drops blanks around a value; a pattern would go through those inside of it again and again. */
function trim(value: string): string {
  let [from, end] = [0, value.length];
  while (isBlank(value.charCodeAt(from))) from += 1;
  while (end > from && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(from, end);
}

/** undefined: the request does not say for sure where it ends [RFC 9112 6.3]. */
function bodyOf({ lengths, codings, hasLoneLf }: Framing): RequestHead['body'] | undefined {
  if (codings.length > 0) {
    const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
    // [contract 15]: what reads a lone LF otherwise would find another end.
    return isChunked && lengths.length === 0 && !hasLoneLf ? 'chunked' : undefined;
  }
  if (lengths.length === 0) return 0;
  const [first = '', ...others] = lengths.map(trim);
  const isOne = lengthPattern.test(first) && others.every((other) => other === first);
  return isOne ? Number(first) : undefined;
}

/** Equal lengths are one [RFC 9110 8.6]. */
function plainHead(text: string, { lengths }: Framing): Buffer {
  const lines = text.split(/\r?\n/).slice(0, -2);
  const isOne = lengths.length < 2;
  const kept = isOne ? lines : lines.filter((line) => !/^content-length:/i.test(line));
  if (!isOne) kept.push(`Content-Length: ${trim(lengths[0] ?? '')}`);
  return Buffer.from(`${kept.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Whether the first line is whole and names no version: nothing more of the request comes. */
export function isBareLine(bytes: Buffer): boolean {
  const end = bytes.indexOf(lf);
  return end >= 0 && !/HTTP\/\d\.\d\r?$/.test(bytes.toString('latin1', Math.max(0, end - 9), end));
}

/** A request without a version is taken where sketches send one: they receive the body alone. */
export function readBareRequest(text: string): RequestHead | undefined {
  const [, target = ''] = bareLine.exec(text) ?? [];
  if (!sketchTarget.test(target)) return undefined;
  return { instead: lonelyRequest(target), body: 0, fields: 0, isLast: true, isBare: true };
}

/** A request line of a sketch, with its key, whose empty line is missing: the request it means. */
export function readLoneLine(bytes: Buffer): Buffer | undefined {
  const [, target = ''] = loneLine.exec(bytes.toString('latin1')) ?? [];
  const isWhole = sketchTarget.test(target) && target.includes('api_key=');
  return isWhole ? lonelyRequest(target) : undefined;
}

/** As of a client that knows no Host and asks once. */
const lonelyRequest = (target: string): Buffer =>
  Buffer.from(`GET ${asUri(target)} HTTP/1.0\r\n\r\n`, 'latin1');
