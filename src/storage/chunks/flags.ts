import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putByte,
  putBytes,
  takeByte,
  takeBytes,
} from './bytes.ts';

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
