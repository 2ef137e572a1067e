import {
  type ByteSink,
  type ByteSource,
  createSink,
  DamagedBytesError,
  integerMax,
  putByte,
  putBytes,
  putDouble,
  putZigzag,
  takeByte,
  takeBytes,
  takeDouble,
  takeZigzag,
  takeZigzags,
  writtenBytes,
} from './bytes.ts';

// How a column of numbers is written; the first byte of a column says which.
const asDoubles = 0;
const asChangeOfChange = 1;
const asOffsets = 2;
/** This and the nine numbers after it: decimals with 0 to 9 digits after the point. */
const asDecimals = 16;
const digitsMax = 9;

const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, digits) => 10 ** digits);

/** Writes instants; those a steady distance apart take one byte each, or less once compressed. */
export function putInstants(sink: ByteSink, instants: Float64Array): void {
  if (!areIntegers(instants)) {
    putDoubles(sink, instants);
    return;
  }
  putByte(sink, asChangeOfChange);
  let previous = 0;
  let change = 0;
  for (const instant of instants) {
    putZigzag(sink, instant - previous - change);
    change = instant - previous;
    previous = instant;
  }
}

/** Writes instants that follow `others`: as the difference, or on their own if that is shorter. */
export function putInstantsBeside(
  sink: ByteSink,
  instants: Float64Array,
  others: Float64Array,
): void {
  const alone = createSink(instants.length * 2);
  putInstants(alone, instants);
  const beside = areIntegers(instants) && areIntegers(others) ? offsets(instants, others) : alone;
  putBytes(sink, writtenBytes(beside.length < alone.length ? beside : alone));
}

function offsets(instants: Float64Array, others: Float64Array): ByteSink {
  const sink = createSink(instants.length * 2);
  putByte(sink, asOffsets);
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < instants.length; at += 1) {
    least = Math.min(least, (instants[at] ?? 0) - (others[at] ?? 0));
  }
  putZigzag(sink, instants.length === 0 ? 0 : least);
  for (let at = 0; at < instants.length; at += 1) {
    putZigzag(sink, (instants[at] ?? 0) - (others[at] ?? 0) - least);
  }
  return sink;
}

/** Reads what putInstants or putInstantsBeside wrote. */
export function takeInstants(source: ByteSource, count: number, others?: Float64Array) {
  const kind = takeByte(source);
  if (kind === asDoubles) return takeDoubles(source, count);
  const instants = new Float64Array(count);
  if (kind === asOffsets && others !== undefined) {
    const least = takeZigzag(source);
    takeZigzags(source, instants);
    for (let at = 0; at < count; at += 1) {
      instants[at] = (instants[at] ?? 0) + (others[at] ?? 0) + least;
    }
    return instants;
  }
  if (kind !== asChangeOfChange) throw new DamagedBytesError('unknown kind of instants');
  takeZigzags(source, instants);
  let previous = 0;
  let change = 0;
  for (let at = 0; at < count; at += 1) {
    change += instants[at] ?? 0;
    previous += change;
    instants[at] = previous;
  }
  return instants;
}

/** Writes numbers: as scaled integers when all are short decimals, else as doubles. */
export function putNumbers(sink: ByteSink, numbers: Float64Array): void {
  const digits = digitsOf(numbers);
  const scale = powersOfTen[digits ?? 0] ?? 1;
  if (digits === undefined || !areDecimals(numbers, scale)) {
    putDoubles(sink, numbers);
    return;
  }
  putByte(sink, asDecimals + digits);
  let previous = 0;
  for (const number of numbers) {
    const scaled = Math.round(number * scale);
    putZigzag(sink, scaled - previous);
    previous = scaled;
  }
}

/** Reads what putNumbers wrote. */
export function takeNumbers(source: ByteSource, count: number): Float64Array {
  const kind = takeByte(source);
  if (kind === asDoubles) return takeDoubles(source, count);
  const scale = powersOfTen[kind - asDecimals];
  if (scale === undefined) throw new DamagedBytesError('unknown kind of numbers');
  const numbers = new Float64Array(count);
  takeZigzags(source, numbers);
  let scaled = 0;
  for (let at = 0; at < count; at += 1) {
    scaled += numbers[at] ?? 0;
    numbers[at] = scaled / scale;
  }
  return numbers;
}

function areIntegers(numbers: Float64Array): boolean {
  for (const number of numbers) {
    if (!Number.isInteger(number) || Math.abs(number) > integerMax) return false;
  }
  return true;
}

/** How many digits after the point write every one of the numbers exactly. */
function digitsOf(numbers: Float64Array): number | undefined {
  let digits = 0;
  for (const number of numbers) {
    while (!isDecimal(number, powersOfTen[digits] ?? 1)) {
      digits += 1;
      if (digits > digitsMax) return undefined;
    }
  }
  return digits;
}

// Asked again with the final scale, which may lift a large number over the limit.
function areDecimals(numbers: Float64Array, scale: number): boolean {
  for (const number of numbers) if (!isDecimal(number, scale)) return false;
  return true;
}

function isDecimal(number: number, scale: number): boolean {
  const scaled = Math.round(number * scale);
  return scaled / scale === number && Math.abs(scaled) <= integerMax;
}

/**
 * Doubles, each XORed with the one before it, first all their lowest bytes, then the next: similar
 * numbers leave long runs of zeros in the upper bytes for the compressor.
 */
function putDoubles(sink: ByteSink, numbers: Float64Array): void {
  putByte(sink, asDoubles);
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
