import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putByte,
  putBytes,
  takeByte,
  takeBytes,
} from './bytes.ts';

/** So many bits are read at once at any position: 32 less the seven before it. */
const bitsPerRead = 24;
/** The bytes that `count` integers of `width` bits take. */
const packedBytes = (count: number, width: number): number => Math.ceil((count * width) / 8);

/** Writes the lowest `width` bits (up to 52) of integers from 0: 24 of each, then the next 24. */
export function putPacked(sink: ByteSink, integers: Float64Array, width: number): void {
  let scale = 1;
  for (let rest = width; rest > 0; rest -= bitsPerRead) {
    const bits = Math.min(bitsPerRead, rest);
    putBytes(sink, pack(integers, scale, bits));
    scale *= 2 ** bitsPerRead;
  }
}

function pack(integers: Float64Array, scale: number, bits: number): Uint8Array {
  const bytes = new Uint8Array(packedBytes(integers.length, bits));
  const limit = 2 ** bits;
  let held = 0;
  let heldBits = 0;
  let at = 0;
  for (const integer of integers) {
    held += (Math.floor(integer / scale) % limit) * 2 ** heldBits;
    heldBits += bits;
    // Up to 31 bits are held: fewer than a double keeps.
    while (heldBits >= 8) {
      bytes[at] = held % 256;
      held = Math.floor(held / 256);
      heldBits -= 8;
      at += 1;
    }
  }
  if (heldBits > 0) bytes[at] = held;
  return bytes;
}

/** Reads `count` integers that putPacked wrote. Four bytes more must follow them. */
export function takePacked(source: ByteSource, count: number, width: number): Float64Array {
  const integers = new Float64Array(count);
  let scale = 1;
  for (let rest = width; rest > 0; rest -= bitsPerRead) {
    const bits = Math.min(bitsPerRead, rest);
    unpack(source, integers, bits, scale);
    scale *= 2 ** bitsPerRead;
  }
  return integers;
}

function unpack(source: ByteSource, into: Float64Array, bits: number, scale: number): void {
  const { view, offset } = source;
  const end = offset + packedBytes(into.length, bits);
  if (end + 4 > view.byteLength) throw new DamagedBytesError('they end too early');
  const mask = 2 ** bits - 1;
  let bit = offset * 8;
  for (let at = 0; at < into.length; at += 1) {
    const low = (view.getUint32(bit >>> 3, true) >>> (bit & 7)) & mask;
    into[at] = scale === 1 ? low : (into[at] ?? 0) + low * scale;
    bit += bits;
  }
  source.offset = end;
}

const noFlags = 0;
const allFlags = 1;
const someFlags = 2;

/** Writes zeros and ones. */
export function putFlags(sink: ByteSink, flags: Uint8Array): void {
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

/** Reads what putFlags wrote. */
export function takeFlags(source: ByteSource, count: number): Uint8Array {
  const kind = takeByte(source);
  if (kind === noFlags) return new Uint8Array(count);
  if (kind === allFlags) return new Uint8Array(count).fill(1);
  if (kind !== someFlags) throw new DamagedBytesError('unknown kind of flags');
  const bits = takeBytes(source, Math.ceil(count / 8));
  return Uint8Array.from({ length: count }, (_, at) => ((bits[at >> 3] ?? 0) >> (at & 7)) & 1);
}
