import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { EdgeError } from './errors.ts';

type Pieces = AsyncIterable<Uint8Array>;
type OpenInflater = (options: { readonly chunkSize: number }) => Transform;
/** Length of the pieces that come out of an inflater, and of the window they refer to. */
export const inflaterBytes = 65_536;

/** Codings of bodies [RFC 9110 8.4.1]; undefined: the bytes as they are. */
const inflaters: ReadonlyMap<string, readonly [string, OpenInflater] | undefined> = new Map([
  ['', undefined],
  ['identity', undefined],
  ['gzip', ['gzip', createGunzip]],
  ['x-gzip', ['gzip', createGunzip]],
  ['deflate', ['deflate (the zlib format)', createInflate]],
]);

/** Answers whether a body is compressed. Throws unsupported_media_type for unknown codings. */
export function isCompressed(contentEncoding: string | undefined): boolean {
  return inflaterOf(contentEncoding) !== undefined;
}

function inflaterOf(contentEncoding = ''): readonly [string, OpenInflater] | undefined {
  const encoding = contentEncoding.trim().toLowerCase();
  if (inflaters.has(encoding)) return inflaters.get(encoding);
  throw new EdgeError(
    'unsupported_media_type',
    `the content encoding ${encoding.slice(0, 60)} is not read here: send gzip, deflate, or none`,
    { 'accept-encoding': 'gzip, deflate' },
  );
}

/**
 * The bytes of a body as they were before its sender compressed them, inflated while they are
 * read. Throws too_large for too many of them, invalid for what is cut or damaged.
 */
export async function* inflated(
  pieces: Pieces,
  contentEncoding: string | undefined,
): AsyncGenerator<Uint8Array> {
  const [name, open] = inflaterOf(contentEncoding) ?? [];
  if (open === undefined) {
    yield* pieces;
    return;
  }
  const inflater = open({ chunkSize: inflaterBytes });
  // Errors on the way in come out of the inflater too, where they are waited for.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), inflater, () => undefined);
  try {
    yield* bounded(inflater, limits.inflatedBytesMax);
  } catch (reason) {
    if (reason instanceof DomainError) throw reason;
    throw invalid(`the body is not whole ${name}, as its Content-Encoding says`);
  }
}

/** Throws too_large instead of handing out more than so many bytes. */
export async function* bounded(pieces: Pieces, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) {
      throw new DomainError('too_large', `the body is larger than ${bytesMax} bytes: send less`);
    }
    yield piece;
  }
}
