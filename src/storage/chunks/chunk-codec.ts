import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  type ByteSink,
  type ByteSource,
  createSink,
  createSource,
  DamagedBytesError,
  putByte,
  putBytes,
  putText,
  putUint32,
  putVarint,
  takeByte,
  takeBytes,
  takeCount,
  takeText,
  takeUint32,
  writtenBytes,
} from './bytes.ts';
import {
  putInstants,
  putInstantsBeside,
  putNumbers,
  takeInstants,
  takeNumbers,
} from './column-encoding.ts';
import type { Columns } from './columns.ts';

const version = 1;
const plain = 0;
const compressed = 1;
/** Shorter bodies do not shrink by more than the frame of the compressor. */
const compressBytesMin = 64;
/** What a damaged head may make us allocate at most. */
const countMax = 2 ** 20;
const bodyBytesMax = 2 ** 28;

/**
 * The bytes of a chunk: version, compression, checksum of the rest, count, size of the body, body.
 * The body has one column per column, so that alike things lie side by side.
 */
export function encodeChunk(columns: Columns): Buffer {
  const body = encodeBody(columns);
  const short =
    body.length < compressBytesMin
      ? body
      : zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  const isCompressed = short.length < body.length;
  const rest = createSink(short.length + 16);
  putVarint(rest, columns.count);
  putVarint(rest, body.length);
  putBytes(rest, isCompressed ? short : body);
  const sink = createSink(rest.length + 6);
  putByte(sink, version);
  putByte(sink, isCompressed ? compressed : plain);
  putUint32(sink, crc32(writtenBytes(rest)));
  putBytes(sink, writtenBytes(rest));
  return writtenBytes(sink);
}

/** The columns of a chunk. Throws DamagedBytesError, naming the chunk, for anything else. */
export function decodeChunk(bytes: Uint8Array, name: string): Columns {
  try {
    return decodeBody(...unframe(createSource(bytes)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DamagedBytesError(`chunk ${name}: ${reason}`);
  }
}

function unframe(source: ByteSource): [body: ByteSource, count: number] {
  const found = takeByte(source);
  if (found !== version) throw new DamagedBytesError(`unknown version ${found}`);
  const compression = takeByte(source);
  if (compression > compressed) throw new DamagedBytesError('unknown compression');
  const checksum = takeUint32(source);
  const rest = source.bytes.subarray(source.offset);
  if (crc32(rest) !== checksum) throw new DamagedBytesError('the checksum does not match');
  const count = takeCount(source, countMax);
  const size = takeCount(source, bodyBytesMax);
  const kept = takeBytes(source, source.bytes.length - source.offset);
  const body =
    compression === compressed ? zstdDecompressSync(kept, { maxOutputLength: size + 1 }) : kept;
  if (body.length !== size) throw new DamagedBytesError('the body has another size');
  return [createSource(body), count];
}

function encodeBody(columns: Columns): Buffer {
  const sink = createSink(columns.count * 8 + 64);
  putInstants(sink, columns.times);
  putFlags(sink, columns.timed);
  putInstantsBeside(sink, columns.received, columns.times);
  if (columns.texts === undefined) {
    putFlags(sink, new Uint8Array(columns.count));
    putNumbers(sink, columns.numbers);
    return writtenBytes(sink);
  }
  const { texts } = columns;
  putFlags(
    sink,
    Uint8Array.from(texts, (text) => (text === undefined ? 0 : 1)),
  );
  putNumbers(
    sink,
    columns.numbers.filter((_, at) => texts[at] === undefined),
  );
  for (const text of texts) if (text !== undefined) putText(sink, text);
  return writtenBytes(sink);
}

function decodeBody(source: ByteSource, count: number): Columns {
  const times = takeInstants(source, count);
  const timed = takeFlags(source, count);
  const received = takeInstants(source, count, times);
  const isText = takeFlags(source, count);
  const textCount = isText.reduce((sum, flag) => sum + flag, 0);
  const column = takeNumbers(source, count - textCount);
  if (textCount === 0) return { count, times, received, timed, numbers: column };
  const numbers = new Float64Array(count);
  const texts = new Array<string | undefined>(count).fill(undefined);
  let next = 0;
  for (let at = 0; at < count; at += 1) {
    if (isText[at] === 0) {
      numbers[at] = column[next] ?? 0;
      next += 1;
    } else {
      texts[at] = takeText(source);
    }
  }
  return { count, times, received, timed, numbers, texts };
}

const noFlags = 0;
const allFlags = 1;
const someFlags = 2;

function putFlags(sink: ByteSink, flags: Uint8Array): void {
  const first = flags[0] ?? 0;
  if (flags.every((flag) => flag === first)) {
    putByte(sink, first === 0 ? noFlags : allFlags);
    return;
  }
  putByte(sink, someFlags);
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [at, flag] of flags.entries()) {
    if (flag !== 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  putBytes(sink, bits);
}

function takeFlags(source: ByteSource, count: number): Uint8Array {
  const kind = takeByte(source);
  if (kind === noFlags) return new Uint8Array(count);
  if (kind === allFlags) return new Uint8Array(count).fill(1);
  if (kind !== someFlags) throw new DamagedBytesError('unknown kind of flags');
  const bits = takeBytes(source, Math.ceil(count / 8));
  return Uint8Array.from({ length: count }, (_, at) => ((bits[at >> 3] ?? 0) >> (at & 7)) & 1);
}
