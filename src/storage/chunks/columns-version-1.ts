import { type ByteSource, DamagedBytesError, takeByte, takeZigzag, takeZigzags } from './bytes.ts';
import { takeDoubles } from './doubles.ts';

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
