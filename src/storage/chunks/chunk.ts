import { crc32 } from 'node:zlib';
import type { Instant } from '../../lib/clock.ts';
import { decodeBlock, encodeBlock } from './block.ts';
import {
  createSink,
  createSource,
  DamagedBytesError,
  putByte,
  putBytes,
  putUint32,
  putVarint,
  takeBytes,
  takeCount,
  takeUint32,
  writtenBytes,
} from './bytes.ts';
import type { Columns } from './columns.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { digitsOf, putNumbers, takeNumbers } from './numbers.ts';
import { type BlockSummary, summarise } from './summary.ts';

/** Some datapoints of a chunk that follow each other: what is decoded at once. */
export interface Block {
  readonly count: number;
  readonly minTime: Instant;
  readonly maxTime: Instant;
  /** With a checksum. */
  readonly bytes: Uint8Array;
  /** The summary of the block's datapoints, where that is known. */
  readonly summary?: BlockSummary;
}

/** The index entry of a chunk. */
export interface ChunkHead {
  readonly id: number;
  readonly minTime: Instant;
  readonly maxTime: Instant;
  readonly count: number;
}

/** Where a block is. */
export interface BlockHead {
  readonly chunk: number;
  readonly index: number;
  readonly block: Block;
}

/** The first byte of a chunk: its format. */
const format = 2;
/** The format before the first release, and what to do about it. */
export const oldFormat = 1;
export const oldFormatAdvice =
  'datapoints in format 1, which only versions before the first release read and wrote: ' +
  'run "kipimo compact" once with commit ce2b21e5, which writes them in format 2';
const checksumBytes = 4;
/** The most that a damaged chunk may make us allocate. */
const blocksMax = 65_536;
const directoryBytesMax = 2 ** 22;
const countMax = 2 ** 20;

/** The block of datapoints that are in order of time, one or more. */
export function toBlock(columns: Columns): Block {
  // Asked for once: it reads every number.
  const digits = columns.texts === undefined ? digitsOf(columns.numbers) : undefined;
  const body = encodeBlock(columns, digits);
  const sink = createSink(body.length + checksumBytes);
  putBytes(sink, body);
  putUint32(sink, crc32(body));
  return {
    count: columns.count,
    minTime: columns.times[0] ?? 0,
    maxTime: columns.times[columns.count - 1] ?? 0,
    bytes: writtenBytes(sink),
    summary: summarise(columns, undefined, digits),
  };
}

/**
 * The bytes of a chunk: the version, the size and the checksum of its directory, the directory, and
 * the blocks. The directory has of each block how many datapoints it has, from when to when, and
 * how long it is: a read of a few datapoints decodes one block.
 */
export function encodeChunk(blocks: readonly Block[]): Buffer {
  const directory = createSink(blocks.length * 8 + 32);
  putVarint(directory, blocks.length);
  putIntegers(
    directory,
    Float64Array.from(blocks, ({ count }) => count),
  );
  putIntegers(
    directory,
    Float64Array.from(blocks, ({ bytes }) => bytes.length),
  );
  const times = blocks.flatMap(({ minTime, maxTime }) => [minTime, maxTime]);
  putNumbers({ dense: directory, loose: directory }, Float64Array.from(times));
  // Integers are read four bytes at a time.
  putUint32(directory, 0);
  const sink = createSink(
    blocks.reduce((sum, { bytes }) => sum + bytes.length, directory.length + 9),
  );
  putByte(sink, format);
  putVarint(sink, directory.length);
  putUint32(sink, crc32(writtenBytes(directory)));
  putBytes(sink, writtenBytes(directory));
  for (const { bytes } of blocks) putBytes(sink, bytes);
  return writtenBytes(sink);
}

/** The blocks of a chunk, not decoded. Throws DamagedBytesError, naming the chunk. */
export function blocksOf(bytes: Uint8Array, name: string): readonly Block[] {
  return naming(name, () => {
    if (bytes[0] === oldFormat) throw new DamagedBytesError(oldFormatAdvice);
    if (bytes[0] !== format) throw new DamagedBytesError(`unknown format ${bytes[0]}`);
    return readDirectory(bytes);
  });
}

/** The datapoints of a block. Throws DamagedBytesError, naming the chunk. */
export function columnsOf(block: Block, name = ''): Columns {
  return naming(name, () => {
    requireChecksum(block);
    return decodeBlock(block.bytes, block.count);
  });
}

/** Throws DamagedBytesError, naming the chunk, for a block that is not what was written. */
export function requireWhole(block: Block, name: string): void {
  naming(name, () => requireChecksum(block));
}

function requireChecksum({ bytes }: Block): void {
  const body = bytes.subarray(0, -checksumBytes);
  const { view } = createSource(bytes);
  if (view.getUint32(body.length, true) !== crc32(body)) {
    throw new DamagedBytesError('the checksum of a block does not match');
  }
}

function naming<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DamagedBytesError(`chunk ${name}: ${reason}`);
  }
}

function readDirectory(bytes: Uint8Array): readonly Block[] {
  const source = createSource(bytes);
  source.offset = 1;
  const size = takeCount(source, directoryBytesMax);
  const checksum = takeUint32(source);
  const stored = takeBytes(source, size);
  if (crc32(stored) !== checksum) throw new DamagedBytesError('the checksum does not match');
  const directory = createSource(stored);
  const blockCount = takeCount(directory, blocksMax);
  const counts = takeIntegers(directory, blockCount);
  const sizes = takeIntegers(directory, blockCount);
  const times = takeNumbers({ dense: directory, loose: directory }, blockCount * 2);
  return Array.from({ length: blockCount }, (_, at): Block => {
    const count = counts[at] ?? 0;
    const [minTime = 0, maxTime = 0] = times.subarray(at * 2, at * 2 + 2);
    const length = sizes[at] ?? 0;
    if (count > countMax || length < checksumBytes) throw new DamagedBytesError('a block is odd');
    return { count, minTime, maxTime, bytes: takeBytes(source, length) };
  });
}
