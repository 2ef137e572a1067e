import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Compressor, type Encoding, encodingFor } from './compression.ts';

/** Headers of files of the dashboard: those of the API would be 150 bytes for each of twenty. */
export const fileHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
};

/** Headers of every other answer: any web page may call the API [contract 2]. */
export const commonHeaders: Readonly<Record<string, string>> = {
  ...fileHeaders,
  'access-control-expose-headers':
    'X-Total-Count, X-Skipped-Count, X-Summarised-Before, X-Refused, X-After, X-Unreachable, ' +
    'Retry-After, Link, ETag',
};

const commonHeaderList = Object.entries(commonHeaders).flat();
// Nothing to sniff and nothing to expose: pushes are answered with this.
const noContentHeaders: readonly string[] = ['access-control-allow-origin', '*'];

/** Headers of an answer without a body: names and values, alternating. */
export const emptyAnswerHeaders: Readonly<Record<200 | 204, readonly string[]>> = {
  200: [...noContentHeaders, 'content-length', '0'],
  204: noContentHeaders,
};

/** A text that is answered as a whole. */
export interface WholeBody {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The same object for the same text: its tag is found once. */
  readonly whole?: object | undefined;
}

/** Headers of a text, names and values alternating, but for those of its content; with its tag. */
export function textHeaders(
  { text, headers, whole }: WholeBody,
  read: ReadOptions | undefined,
): { readonly about: string[]; readonly entityTag: string | undefined } {
  const about = [...commonHeaderList];
  for (const name in headers) about.push(name, headers[name] ?? '');
  if (read === undefined) return { about, entityTag: undefined };
  const entityTag = entityTagOf(text, whole);
  about.push('etag', entityTag, ...varyHeader);
  if (headers['cache-control'] === undefined) about.push(...revalidateHeader);
  return { about, entityTag };
}

/** How the answers of one request to read may be shortened. */
export interface ReadOptions {
  /** The encoding that the client takes beside plain text; undefined: none. */
  readonly encoding: Encoding | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly isHead: boolean;
  readonly compressor: Compressor;
}

/** Reads from the request how a read is to be answered. */
export function readOptionsOf(
  headers: IncomingHttpHeaders,
  method: string,
  compressor: Compressor,
): ReadOptions {
  const accepted = headers['accept-encoding'];
  return {
    encoding: accepted === undefined ? undefined : encodingFor(String(accepted)),
    ifNoneMatch: headers['if-none-match'],
    isHead: method === 'HEAD',
    compressor,
  };
}

/** Headers on which answers depend: caches must not mix these answers up [RFC 9110, 12.5.5]. */
export const varyHeader = ['vary', 'Authorization, Accept-Encoding'] as const;
/** With an ETag, every use of a stored answer asks here first [RFC 9111, 5.2.2.4]. */
export const revalidateHeader = ['cache-control', 'private, no-cache'] as const;
const knownTags = new WeakMap<object, string>();

/**
 * The entity tag of an answer, 128 bits of its hash. It is weak, as the answer is the same one
 * whether it is sent compressed or not [RFC 9110, 8.8.1]. `whole` is an object that represents the
 * text: the text is hashed once while it lives.
 */
function entityTagOf(body: string, whole?: object): string {
  const known = whole && knownTags.get(whole);
  if (known !== undefined) return known;
  const entityTag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
  if (whole !== undefined) knownTags.set(whole, entityTag);
  return entityTag;
}

/** Whether If-None-Match names the answer: then the client has it [RFC 9110, 13.1.2]. */
export function isKnownToClient(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  // No quote is inside of a tag, so that the quoted text is found as a whole tag only.
  return ifNoneMatch.trim() === '*' || ifNoneMatch.includes(entityTag.slice(2));
}
