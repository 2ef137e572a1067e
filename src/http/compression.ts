import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { limits } from '../domain/limits.ts';

/** A content coding that answers are sent in [RFC 9110, 8.4.1]. */
export type Encoding = 'br' | 'gzip';
/** Compresses answers beside the event loop, a bounded number at a time. */
export type Compressor = ReturnType<typeof createCompressor>;
const brotli = promisify<string, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<string, zlib.ZlibOptions, Buffer>(zlib.gzip);

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY } = zlib.constants;
// As fast as gzip and smaller; a window of 256 KiB keeps the memory of one stream small.
const brotliOptions = { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_LGWIN]: 18 } };
const gzipOptions = { level: 5 };

export function createCompressor(compressionsMax: number = limits.compressionsMax) {
  let underWay = 0;
  const release = (): void => {
    underWay -= 1;
  };
  return {
    /** Undefined: enough is under way, the answer goes out as it is. */
    whole(body: string, encoding: Encoding): Promise<Buffer> | undefined {
      if (underWay >= compressionsMax) return undefined;
      underWay += 1;
      const compressed = encoding === 'br' ? brotli(body, brotliOptions) : gzip(body, gzipOptions);
      return compressed.finally(release);
    },
    /** The compressed stream, which reads `chunks` as fast as it is read; undefined as above. */
    stream(chunks: AsyncIterable<string | Uint8Array>, encoding: Encoding): Readable | undefined {
      if (underWay >= compressionsMax) return undefined;
      underWay += 1;
      const zip: Transform =
        encoding === 'br' ? zlib.createBrotliCompress(brotliOptions) : zlib.createGzip(gzipOptions);
      // A source that fails destroys the stream with its error, which its reader sees there.
      pipeline(Readable.from(chunks, { highWaterMark: 2 }), zip).then(release, release);
      return zip;
    },
  };
}

const preferred: readonly Encoding[] = ['br', 'gzip'];

/**
 * The coding that Accept-Encoding likes best, the smaller one of equals; undefined: send plain
 * text [RFC 9110, 12.5.3]. A wildcard alone asks for nothing.
 */
export function encodingFor(acceptEncoding: string): Encoding | undefined {
  let best: Encoding | undefined;
  let bestQuality = 0;
  for (const range of acceptEncoding.split(',', 32)) {
    const [name = '', ...parameters] = range.split(';', 4).map((part) => part.trim().toLowerCase());
    const encoding = preferred.find((known) => known === name || `x-${known}` === name);
    if (encoding === undefined) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight) || 0;
    if (quality < bestQuality || quality === 0) continue;
    if (quality === bestQuality && best === 'br') continue;
    best = encoding;
    bestQuality = quality;
  }
  return best;
}

/** Whether answers of this type become shorter when they are compressed. */
export const isCompressible = (contentType: string): boolean =>
  contentType.startsWith('text/') || contentType.startsWith('application/json');
