import {
  type ByteSink,
  type ByteSource,
  putBytes,
  putDouble,
  takeBytes,
  takeDouble,
} from './bytes.ts';

/**
 * Doubles, each XORed with the one before it, first all their lowest bytes, then the next: similar
 * numbers leave long runs of zeros in the upper bytes for the compressor.
 */
export function putDoubles(sink: ByteSink, numbers: Float64Array): void {
  const count = numbers.length;
  if (count === 0) return;
  putDouble(sink, numbers[0] ?? 0);
  const words = new Uint32Array(numbers.buffer, numbers.byteOffset, count * 2);
  const planes = new Uint8Array((count - 1) * 8);
  for (let at = 1; at < count; at += 1) {
    const low = (words[at * 2] ?? 0) ^ (words[at * 2 - 2] ?? 0);
    const high = (words[at * 2 + 1] ?? 0) ^ (words[at * 2 - 1] ?? 0);
    for (let plane = 0; plane < 4; plane += 1) {
      planes[plane * (count - 1) + at - 1] = low >>> (plane * 8);
      planes[(plane + 4) * (count - 1) + at - 1] = high >>> (plane * 8);
    }
  }
  putBytes(sink, planes);
}

/** Reads `count` doubles that putDoubles wrote. */
export function takeDoubles(source: ByteSource, count: number): Float64Array {
  const numbers = new Float64Array(count);
  if (count === 0) return numbers;
  numbers[0] = takeDouble(source);
  const words = new Uint32Array(numbers.buffer);
  const planes = takeBytes(source, (count - 1) * 8);
  for (let at = 1; at < count; at += 1) {
    let low = 0;
    let high = 0;
    for (let plane = 0; plane < 4; plane += 1) {
      low |= (planes[plane * (count - 1) + at - 1] ?? 0) << (plane * 8);
      high |= (planes[(plane + 4) * (count - 1) + at - 1] ?? 0) << (plane * 8);
    }
    words[at * 2] = low ^ (words[at * 2 - 2] ?? 0);
    words[at * 2 + 1] = high ^ (words[at * 2 - 1] ?? 0);
  }
  return numbers;
}
