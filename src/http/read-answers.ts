import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Compressor, type Encoding, encodingFor } from './compression.ts';

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
export function entityTagOf(body: string, whole?: object): string {
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
