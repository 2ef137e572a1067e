import { crc32, zstdDecompressSync } from 'node:zlib';
import {
  type ByteSource,
  createSource,
  DamagedBytesError,
  takeByte,
  takeBytes,
  takeCount,
  takeText,
  takeUint32,
} from './bytes.ts';
import type { Columns } from './columns.ts';
import { takeInstants, takeNumbers } from './columns-version-1.ts';
import { takeFlags } from './flags.ts';

const version = 1;
const compressed = 1;
/** What a damaged head may make us allocate at most. */
const countMax = 2 ** 20;
const bodyBytesMax = 2 ** 28;

/**
 * The columns of a chunk of version 1, which is read for ever. Throws DamagedBytesError, naming the
 * chunk, for anything else.
 */
export function decodeVersion1(bytes: Uint8Array, name: string): Columns {
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
