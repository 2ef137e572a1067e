import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError, invalid } from '../../domain/errors.ts';
import { EdgeError } from '../errors.ts';
import type { StreamBody } from '../stream-body.ts';
import { endpointLimits } from './endpoint-limits.ts';

/**
 * The pieces of a body as they were before the sender compressed them, and never more than
 * `bytesMax` of them. Throws DomainError too_large, invalid; EdgeError unsupported_media_type.
 */
export function inflated(
  pieces: StreamBody['pieces'],
  contentEncoding: string | undefined,
  bytesMax: number = endpointLimits.inflatedBytesMax,
): AsyncIterable<Uint8Array> {
  const encoding = (contentEncoding ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return bounded(pieces, bytesMax);
  if (encoding === 'gzip' || encoding === 'x-gzip') return bounded(gunzipped(pieces), bytesMax);
  throw new EdgeError(
    'unsupported_media_type',
    `the content encoding ${encoding.slice(0, 60)} is not read here: send gzip, or none`,
  );
}

async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) {
      throw new DomainError(
        'too_large',
        `the body has more than ${bytesMax} bytes: send it in parts`,
      );
    }
    yield piece;
  }
}

async function* gunzipped(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: endpointLimits.inflatedPieceBytes });
  // What goes wrong on the way in comes out of `gunzip` too, where it is waited for.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), gunzip, () => undefined);
  try {
    yield* gunzip;
  } catch (reason) {
    if (reason instanceof DomainError) throw reason;
    throw invalid('the body is not whole gzip, as its Content-Encoding says');
  }
}
