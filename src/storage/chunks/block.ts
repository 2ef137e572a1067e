import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { putFlags, takeFlags } from './bits.ts';
import {
  createSink,
  createSource,
  DamagedBytesError,
  putByte,
  putBytes,
  putText,
  putVarint,
  takeByte,
  takeBytes,
  takeCount,
  takeText,
  writtenBytes,
} from './bytes.ts';
import type { Columns } from './columns.ts';
import { putIntegers, takeIntegers } from './integers.ts';
import {
  type BlockSinks,
  type BlockSources,
  type Digits,
  putNumbers,
  takeNumbers,
} from './numbers.ts';

/** Shorter bytes do not shrink by more than the frame of the compressor. */
const compressBytesMin = 64;
/** Of long values. */
const largeBytesMin = 65_536;
/** The most that damage may make us allocate. */
const looseBytesMax = 2 ** 28;
/** Texts are listed once each when there are no more, and each comes this often. */
const distinctTextsMax = 255;
const repeatsMin = 4;
const eachText = 0;
const distinctTexts = 1;

/**
 * The bytes of a block: those worth compressing apart from those that are dense already. Four bytes
 * more must follow them when they are read. `digits` are those of the numbers, if they are known.
 */
export function encodeBlock(columns: Columns, digits?: Digits): Buffer {
  const sinks = { dense: createSink(columns.count * 2 + 64), loose: createSink(64) };
  const { dense } = sinks;
  putNumbers(sinks, columns.times);
  putFlags(dense, columns.timed);
  putNumbers(sinks, columns.received, columns.times);
  putValues(sinks, columns, digits);
  const loose = writtenBytes(sinks.loose);
  const kept = compressed(loose);
  const sink = createSink(dense.length + kept.length + 12);
  putVarint(sink, loose.length);
  putVarint(sink, kept.length);
  putBytes(sink, kept);
  putBytes(sink, writtenBytes(dense));
  return writtenBytes(sink);
}

/** The columns of a block of `count` datapoints. Throws for anything else. */
export function decodeBlock(bytes: Uint8Array, count: number): Columns {
  const dense = createSource(bytes);
  const looseBytes = takeCount(dense, looseBytesMax);
  const kept = takeBytes(dense, takeCount(dense, looseBytesMax));
  const loose =
    kept.length === looseBytes
      ? kept
      : zstdDecompressSync(kept, {
          maxOutputLength: looseBytes + 1,
          // Else they come in many pieces, which are put together then.
          ...(looseBytes >= largeBytesMin && { chunkSize: looseBytes + 1 }),
        });
  if (loose.length !== looseBytes) throw new DamagedBytesError('a block has another size');
  const sources = { dense, loose: createSource(loose) };
  const times = takeNumbers(sources, count);
  const timed = takeFlags(dense, count);
  const received = takeNumbers(sources, count, times);
  return { count, times, received, timed, ...takeValues(sources, count) };
}

function compressed(bytes: Buffer): Buffer {
  if (bytes.length < compressBytesMin) return bytes;
  const short = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  return short.length < bytes.length ? short : bytes;
}

function putValues(sinks: BlockSinks, { count, numbers, texts }: Columns, digits?: Digits): void {
  const { dense } = sinks;
  if (texts === undefined) {
    putFlags(dense, new Uint8Array(count));
    putNumbers(sinks, numbers, undefined, digits);
    return;
  }
  const isText = Uint8Array.from({ length: count }, (_, at) => (texts[at] === undefined ? 0 : 1));
  putFlags(dense, isText);
  putNumbers(
    sinks,
    numbers.filter((_, at) => isText[at] === 0),
  );
  putTexts(
    sinks,
    texts.filter((text) => text !== undefined),
  );
}

function takeValues(sources: BlockSources, count: number): Pick<Columns, 'numbers' | 'texts'> {
  const isText = takeFlags(sources.dense, count);
  let textCount = 0;
  for (const flag of isText) textCount += flag;
  const column = takeNumbers(sources, count - textCount);
  if (textCount === 0) return { numbers: column };
  const list = takeTexts(sources, textCount);
  const numbers = new Float64Array(count);
  const texts = new Array<string | undefined>(count).fill(undefined);
  let nextText = 0;
  for (let at = 0; at < count; at += 1) {
    if (isText[at] === 0) {
      numbers[at] = column[at - nextText] ?? 0;
    } else {
      numbers[at] = Number.NaN;
      texts[at] = list[nextText];
      nextText += 1;
    }
  }
  return { numbers, texts };
}

function putTexts({ dense, loose }: BlockSinks, texts: readonly string[]): void {
  const distinct = new Map<string, number>();
  for (const text of texts) {
    if (!distinct.has(text)) distinct.set(text, distinct.size);
    if (distinct.size > distinctTextsMax) break;
  }
  if (distinct.size > distinctTextsMax || distinct.size * repeatsMin > texts.length) {
    putByte(dense, eachText);
    for (const text of texts) putText(loose, text);
    return;
  }
  putByte(dense, distinctTexts);
  putByte(dense, distinct.size);
  for (const text of distinct.keys()) putText(loose, text);
  putIntegers(
    dense,
    Float64Array.from(texts, (text) => distinct.get(text) ?? 0),
  );
}

function takeTexts({ dense, loose }: BlockSources, count: number): (string | undefined)[] {
  const kind = takeByte(dense);
  if (kind === eachText) return Array.from({ length: count }, () => takeText(loose));
  if (kind !== distinctTexts) throw new DamagedBytesError('unknown kind of texts');
  const distinct = Array.from({ length: takeByte(dense) }, () => takeText(loose));
  return Array.from(takeIntegers(dense, count), (index) => {
    const text = distinct[index];
    if (text === undefined) throw new DamagedBytesError('a text is missing');
    return text;
  });
}
