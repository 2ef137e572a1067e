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
import { decodeVersion1 } from './chunk-version-1.ts';
import type { Columns } from './columns.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import { digitsOf, putNumbers, takeNumbers } from './numbers.ts';
import { type BlockSummary, summarise } from './summary.ts';

/** Some datapoints of a chunk that follow each other: what is decoded at once. */
export interface Block {
  readonly count: number;
  readonly minTime: Instant;
  readonly maxTime: Instant;
  /** With a checksum; those of version 1 are a whole chunk of that version. */
  readonly bytes: Uint8Array;
  readonly version: 1 | 2;
  /** What its datapoints come to, where that is known. */
  readonly summary?: BlockSummary;
}

/** The version that is written. */
export const newestVersion = 2;
const version = newestVersion;
const versionBefore = 1;
const checksumBytes = 4;
/** What a damaged chunk may make us allocate at most. */
const blocksMax = 65_536;
const directoryBytesMax = 2 ** 22;
const countMax = 2 ** 20;

/** The block of datapoints that are in order of time, one or more. */
export function toBlock(columns: Columns): Block {
  // Asked for once: it looks at every number.
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
    version,
    summary: summarise(columns, undefined, digits),
  };
}

/**
 * The bytes of a chunk: the version, the size and the checksum of its directory, the directory, and
 * the blocks. The directory tells of each block how many datapoints it has, from when to when, and
 * how long it is: who reads a few datapoints decodes one block.
 */
export function encodeChunk(blocks: readonly Block[]): Buffer {
  const all = blocks.map((block) =>
    block.version === version ? block : toBlock(columnsOf(block)),
  );
  const directory = createSink(all.length * 8 + 32);
  putVarint(directory, all.length);
  putIntegers(
    directory,
    Float64Array.from(all, ({ count }) => count),
  );
  putIntegers(
    directory,
    Float64Array.from(all, ({ bytes }) => bytes.length),
  );
  const times = all.flatMap(({ minTime, maxTime }) => [minTime, maxTime]);
  putNumbers({ dense: directory, loose: directory }, Float64Array.from(times));
  // Integers are read four bytes at a time.
  putUint32(directory, 0);
  const sink = createSink(all.reduce((sum, { bytes }) => sum + bytes.length, directory.length + 9));
  putByte(sink, version);
  putVarint(sink, directory.length);
  putUint32(sink, crc32(writtenBytes(directory)));
  putBytes(sink, writtenBytes(directory));
  for (const { bytes } of all) putBytes(sink, bytes);
  return writtenBytes(sink);
}

/**
 * The blocks of a chunk of any version, which are not decoded: parts of these bytes. Throws
 * DamagedBytesError, naming the chunk.
 */
export function blocksOf(bytes: Uint8Array, name: string): readonly Block[] {
  if (bytes[0] === versionBefore) return [blockOfVersion1(bytes, name)];
  return naming(name, () => {
    if (bytes[0] !== version) throw new DamagedBytesError(`unknown version ${bytes[0]}`);
    return readDirectory(bytes);
  });
}

/** The datapoints of a block. Throws DamagedBytesError, naming the chunk. */
export function columnsOf(block: Block, name = ''): Columns {
  if (block.version === versionBefore) return decodeVersion1(block.bytes, name);
  return naming(name, () => {
    requireChecksum(block);
    return decodeBlock(block.bytes, block.count);
  });
}

/** Throws DamagedBytesError, naming the chunk, for a block that is not what was written. */
export function requireWhole(block: Block, name: string): void {
  if (block.version === versionBefore) decodeVersion1(block.bytes, name);
  else naming(name, () => requireChecksum(block));
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

function blockOfVersion1(bytes: Uint8Array, name: string): Block {
  const { count, times } = decodeVersion1(bytes, name);
  const [minTime = 0] = times;
  return { count, minTime, maxTime: times[count - 1] ?? 0, bytes, version: versionBefore };
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
    return { count, minTime, maxTime, bytes: takeBytes(source, length), version };
  });
}
