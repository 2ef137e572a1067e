import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  integerMax,
  putByte,
  putBytes,
  putDouble,
  putVarint,
  takeByte,
  takeBytes,
  takeCount,
  takeDouble,
  takeVarint,
} from './bytes.ts';
import { putIntegers, takeIntegers } from './integers.ts';

/** The first byte of a column: digits after the point, or this. */
const asDoubles = 255;
const digitsMax = 15;
const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, digits) => 10 ** digits);
/** The cost of one more digit for each number, and of a number that is no decimal. */
const bitsPerDigit = 3.4;
const bitsPerException = 80;
/** The cost of a full double. */
const bitsPerDouble = 52;

/** Where the bytes of a block go: those that are dense already, and those worth compressing. */
export interface BlockSinks {
  readonly dense: ByteSink;
  readonly loose: ByteSink;
}

export interface BlockSources {
  readonly dense: ByteSource;
  readonly loose: ByteSource;
}

/**
 * Writes numbers so that each comes back to its last bit: as decimals of as many digits as most of
 * them have, the others apart, as in ALP (Afroozeh, Kuffo, Boncz, 2023), or as doubles. `digits`
 * are what digitsOf says of them.
 */
export function putNumbers(
  sinks: BlockSinks,
  numbers: Float64Array,
  beside?: Float64Array,
  digits = digitsOf(numbers),
): void {
  if (digits === 'doubles') {
    putByte(sinks.dense, asDoubles);
    putDoubles(sinks.loose, numbers);
    return;
  }
  const scale = powersOfTen[digits] ?? 1;
  const { scaled, exceptions } = scaledBy(numbers, scale);
  putByte(sinks.dense, digits);
  putVarint(sinks.dense, exceptions.length);
  let previous = -1;
  for (const at of exceptions) {
    putVarint(sinks.dense, at - previous - 1);
    putDouble(sinks.dense, numbers[at] ?? 0);
    previous = at;
  }
  putIntegers(sinks.dense, scaled, beside && besideOf(beside, scale));
}

/** Reads `count` numbers that putNumbers wrote with the same column beside them. */
export function takeNumbers(
  { dense, loose }: BlockSources,
  count: number,
  beside?: Float64Array,
): Float64Array {
  const digits = takeByte(dense);
  if (digits === asDoubles) return takeDoubles(loose, count);
  const scale = powersOfTen[digits];
  if (scale === undefined) throw new DamagedBytesError('unknown kind of numbers');
  const exceptions = takeCount(dense, count);
  const rows = new Uint32Array(exceptions);
  const values = new Float64Array(exceptions);
  let row = -1;
  for (let at = 0; at < exceptions; at += 1) {
    row += 1 + takeVarint(dense);
    rows[at] = row;
    values[at] = takeDouble(dense);
  }
  const numbers = takeIntegers(dense, count, beside && besideOf(beside, scale));
  if (scale !== 1) for (let at = 0; at < count; at += 1) numbers[at] = (numbers[at] ?? 0) / scale;
  for (let at = 0; at < exceptions; at += 1) numbers[rows[at] ?? 0] = values[at] ?? 0;
  return numbers;
}

/** Numbers about as large as those beside them, as integers of the same scale. */
function besideOf(beside: Float64Array, scale: number): Float64Array {
  return beside.map((number) => {
    const integer = Math.round(number * scale);
    return Math.abs(integer) <= integerMax ? integer : 0;
  });
}

/** Digits after the point, or none, as doubles are shorter. */
export type Digits = number | 'doubles';

/** The digits after the point that write most numbers. */
export function digitsOf(numbers: Float64Array): Digits {
  if (areIntegers(numbers)) return 0;
  const counts = new Uint32Array(digitsMax + 2);
  const doublesBits = bitsPerDouble * numbers.length;
  let least = 0;
  let others = 0;
  for (const number of numbers) {
    least = digitsOfOne(number, least);
    counts[least] = (counts[least] ?? 0) + 1;
    if (least <= digitsMax) continue;
    others += 1;
    // Enough, whatever the rest is: these are exceptions with any number of digits.
    if (others * bitsPerException >= doublesBits) return 'doubles';
  }
  let best: Digits = 'doubles';
  let bestBits = doublesBits;
  let exceptions = numbers.length;
  for (let digits = 0; digits <= digitsMax; digits += 1) {
    exceptions -= counts[digits] ?? 0;
    const bits = digits * bitsPerDigit * numbers.length + exceptions * bitsPerException;
    if (bits < bestBits) [best, bestBits] = [digits, bits];
  }
  return best;
}

function areIntegers(numbers: Float64Array): boolean {
  for (const number of numbers) if (!isDecimal(number, 1)) return false;
  return true;
}

/** Begins with the digits of the number before, which are those of most. */
function digitsOfOne(number: number, likely: number): number {
  const first = likely > digitsMax ? 0 : likely;
  if (first > 0 && isDecimal(number, powersOfTen[first] ?? 1)) {
    let digits = first;
    while (digits > 0 && isDecimal(number, powersOfTen[digits - 1] ?? 1)) digits -= 1;
    return digits;
  }
  for (let digits = first; digits <= digitsMax; digits += 1) {
    if (isDecimal(number, powersOfTen[digits] ?? 1)) return digits;
  }
  return digitsMax + 1;
}

function isDecimal(number: number, scale: number): boolean {
  const scaled = Math.round(number * scale);
  // -0 is none: as an integer it would be 0.
  return Math.abs(scaled) <= integerMax && Object.is((scaled + 0) / scale, number);
}

function scaledBy(numbers: Float64Array, scale: number) {
  const scaled = new Float64Array(numbers.length);
  const exceptions: number[] = [];
  let previous = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at] ?? 0;
    if (isDecimal(number, scale)) previous = Math.round(number * scale);
    else exceptions.push(at);
    scaled[at] = previous;
  }
  return { scaled, exceptions };
}

/**
 * Doubles, each XORed with the one before it, first all their lowest bytes, then the next: similar
 * numbers leave long runs of zeros in the upper bytes for the compressor.
 */
function putDoubles(sink: ByteSink, numbers: Float64Array): void {
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
function takeDoubles(source: ByteSource, count: number): Float64Array {
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
