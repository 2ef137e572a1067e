import { once } from 'node:events';
import { crc32, createDeflateRaw } from 'node:zlib';

/** A file of an archive. A slash in its name is written as `_`: it leads into no folder. */
export interface ZipEntry {
  readonly name: string;
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

/** Limits of an archive without the longer numbers of ZIP64. */
export const zipBytesMax = 0xffff_ffff;
const entriesMax = 0xffff;

/** An archive would need more bytes, or files, than its numbers can say. */
export class ZipTooLargeError extends Error {
  constructor() {
    super('the archive would be larger than 4 GiB');
    this.name = 'ZipTooLargeError';
  }
}

/** An entry as the directory at the end of the archive describes it. */
interface Written {
  readonly name: Buffer;
  readonly checksum: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
}

const version = 20;
/** Sizes follow the data; names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
/** 1 January 1980: archives of the same data are the same. */
const date = 0x0021;

/** The bytes of a ZIP archive, made while its entries are read; compressed off this thread. */
export async function* zipped(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const directory: Written[] = [];
  let offset = 0;
  for await (const { name, chunks } of entries) {
    const start = offset;
    const nameBytes = Buffer.from(name.replace(/[/\\]/g, '_'));
    const head = localHeader(nameBytes);
    offset += head.length;
    yield head;
    const total = { checksum: 0, size: 0 };
    let compressed = 0;
    for await (const piece of compress(chunks, total)) {
      compressed += piece.length;
      if (offset + compressed > zipBytesMax || total.size > zipBytesMax) {
        throw new ZipTooLargeError();
      }
      yield piece;
    }
    const written = { ...total, name: nameBytes, compressed, offset: start };
    const tail = dataDescriptor(written);
    offset += compressed + tail.length;
    directory.push(written);
    yield tail;
  }
  if (offset > zipBytesMax || directory.length > entriesMax) throw new ZipTooLargeError();
  const records = Buffer.concat(directory.map(directoryRecord));
  yield records;
  yield endRecord(directory.length, records.length, offset);
}

async function* compress(
  chunks: AsyncIterable<string | Uint8Array>,
  total: { checksum: number; size: number },
): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw();
  const ready: Buffer[] = [];
  deflate.on('data', (piece: Buffer) => ready.push(piece));
  const ended = once(deflate, 'end');
  // Awaited below; a failure before that is thrown there.
  ended.catch(() => undefined);
  try {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk);
      total.checksum = crc32(bytes, total.checksum);
      total.size += bytes.length;
      await new Promise<void>((resolve, reject) => {
        deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
      yield* ready.splice(0);
    }
    deflate.end();
    await ended;
    yield* ready.splice(0);
  } finally {
    deflate.destroy();
  }
}

const localHeader = (name: Buffer): Buffer =>
  Buffer.concat([
    ...[long(0x0403_4b50), short(version, flags, deflated, 0, date), long(0, 0, 0)],
    ...[short(name.length, 0), name],
  ]);

const dataDescriptor = ({ checksum, compressed, size }: Written): Buffer =>
  long(0x0807_4b50, checksum, compressed, size);

const directoryRecord = ({ name, checksum, compressed, size, offset }: Written): Buffer =>
  Buffer.concat([
    ...[long(0x0201_4b50), short(version, version, flags, deflated, 0, date)],
    ...[long(checksum, compressed, size), short(name.length, 0, 0, 0, 0), long(0, offset), name],
  ]);

const endRecord = (count: number, length: number, offset: number): Buffer =>
  Buffer.concat([long(0x0605_4b50), short(0, 0, count, count), long(length, offset), short(0)]);

/** Numbers of 16 bits, the low byte first. */
const short = (...numbers: readonly number[]): Buffer =>
  Buffer.from(numbers.flatMap((number) => [number & 0xff, number >> 8]));

/** Numbers of 32 bits, the low byte first. */
const long = (...numbers: readonly number[]): Buffer =>
  Buffer.concat(numbers.map((number) => short(number & 0xffff, number >>> 16)));
