import {
  type ByteSource,
  DamagedBytesError,
  takeByte,
  takeBytes,
  takeDouble,
  takeZigzag,
  takeZigzags,
} from './bytes.ts';

// How a column of numbers is written; the first byte of a column says which.
const asDoubles = 0;
const asChangeOfChange = 1;
const asOffsets = 2;
/** This and the nine numbers after it: decimals with 0 to 9 digits after the point. */
const asDecimals = 16;
const digitsMax = 9;

const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, digits) => 10 ** digits);

/** Reads instants: on their own, or as differences to others. */
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

/** Reads numbers: scaled integers, or doubles. */
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
