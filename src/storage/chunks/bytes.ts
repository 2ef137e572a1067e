/** Thrown when stored bytes are not what was written. */
export class DamagedBytesError extends Error {
  constructor(problem: string) {
    super(`stored bytes are damaged: ${problem}`);
    this.name = 'DamagedBytesError';
  }
}

/** Bytes being written, growing as needed. */
export interface ByteSink {
  bytes: Buffer<ArrayBuffer>;
  view: DataView;
  length: number;
}

/** Bytes being read, never past their end. */
export interface ByteSource {
  readonly bytes: Buffer;
  readonly view: DataView;
  offset: number;
}

/**
 * Integers up to this size fit the integer columns: even the change of their change stays exact.
 */
export const integerMax = 2 ** 50;

/** An empty sink of `capacity` bytes before it first grows. */
export function createSink(capacity: number): ByteSink {
  const bytes = Buffer.from(new ArrayBuffer(Math.max(16, capacity)));
  return { bytes, view: viewOf(bytes), length: 0 };
}

/** A source that reads `bytes` from the start. */
export function createSource(bytes: Uint8Array): ByteSource {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes: buffer, view: viewOf(buffer), offset: 0 };
}

/** The bytes written so far; valid until the sink is written to again. */
export const writtenBytes = (sink: ByteSink): Buffer => sink.bytes.subarray(0, sink.length);

export function putByte(sink: ByteSink, value: number): void {
  reserve(sink, 1);
  sink.bytes[sink.length] = value;
  sink.length += 1;
}

export function putUint32(sink: ByteSink, value: number): void {
  reserve(sink, 4);
  sink.view.setUint32(sink.length, value, true);
  sink.length += 4;
}

export function putDouble(sink: ByteSink, value: number): void {
  reserve(sink, 8);
  sink.view.setFloat64(sink.length, value, true);
  sink.length += 8;
}

/** Writes an integer from 0 to Number.MAX_SAFE_INTEGER in 1 to 8 bytes. */
export function putVarint(sink: ByteSink, value: number): void {
  reserve(sink, 8);
  const { bytes } = sink;
  let rest = value;
  let at = sink.length;
  // Bit operations see 32 bits only, so the upper part of a long number is divided off.
  while (rest >= 0x8000_0000) {
    bytes[at] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
    at += 1;
  }
  while (rest >= 128) {
    bytes[at] = (rest & 127) | 128;
    rest >>>= 7;
    at += 1;
  }
  bytes[at] = rest;
  sink.length = at + 1;
}

/** Writes an integer of either sign, at most 2 ** 52 in size; small ones take one byte. */
export function putZigzag(sink: ByteSink, value: number): void {
  putVarint(sink, value >= 0 ? value * 2 : value * -2 - 1);
}

export function putBytes(sink: ByteSink, bytes: Uint8Array): void {
  reserve(sink, bytes.length);
  sink.bytes.set(bytes, sink.length);
  sink.length += bytes.length;
}

export function putText(sink: ByteSink, text: string): void {
  const size = Buffer.byteLength(text);
  putVarint(sink, size);
  reserve(sink, size);
  sink.bytes.write(text, sink.length, 'utf8');
  sink.length += size;
}

export function takeByte(source: ByteSource): number {
  const value = source.bytes[source.offset];
  if (value === undefined) throw new DamagedBytesError('they end too early');
  source.offset += 1;
  return value;
}

export function takeUint32(source: ByteSource): number {
  const at = advance(source, 4);
  return source.view.getUint32(at, true);
}

export function takeDouble(source: ByteSource): number {
  const at = advance(source, 8);
  return source.view.getFloat64(at, true);
}

export function takeVarint(source: ByteSource): number {
  const first = takeByte(source);
  if (first < 128) return first;
  let value = first & 127;
  let scale = 128;
  // Eight bytes hold every number that was written; a longer one is damage.
  for (let position = 1; position < 8; position += 1) {
    const byte = takeByte(source);
    value += (byte & 127) * scale;
    if (byte < 128) return value;
    scale *= 128;
  }
  throw new DamagedBytesError('a number is too long');
}

export function takeZigzag(source: ByteSource): number {
  const value = takeVarint(source);
  return value % 2 === 0 ? value / 2 : (value + 1) / -2;
}

/** A number of things that take up at least one byte each, so that damage cannot ask for more. */
export function takeCount(source: ByteSource, countMax: number): number {
  const count = takeVarint(source);
  if (count > countMax) throw new DamagedBytesError(`${count} entries are too many`);
  return count;
}

export function takeBytes(source: ByteSource, size: number): Buffer {
  const at = advance(source, size);
  return source.bytes.subarray(at, at + size);
}

export function takeText(source: ByteSource): string {
  const size = takeVarint(source);
  const at = advance(source, size);
  return source.bytes.toString('utf8', at, at + size);
}

function advance(source: ByteSource, size: number): number {
  const at = source.offset;
  if (size > source.bytes.length - at) throw new DamagedBytesError('they end too early');
  source.offset = at + size;
  return at;
}

function reserve(sink: ByteSink, size: number): void {
  const needed = sink.length + size;
  if (needed <= sink.bytes.length) return;
  const grown = Buffer.from(new ArrayBuffer(Math.max(needed, sink.bytes.length * 2)));
  grown.set(sink.bytes.subarray(0, sink.length));
  sink.bytes = grown;
  sink.view = viewOf(grown);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
