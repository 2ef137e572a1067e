import { putPacked, takePacked } from './bits.ts';
import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putByte,
  putVarint,
  putZigzag,
  takeByte,
  takeVarint,
  takeZigzag,
} from './bytes.ts';
import { type IntegerForm, shortestForm } from './integer-form.ts';
import { putSymbols, takeSymbols } from './prefix-code.ts';

// The first byte of a column: how often changes were taken, and these bits.
const changesMask = 3;
const besideBit = 4;
const aroundBit = 8;
const symbolsBit = 16;
/** Of a residue whose upper bits do not fit a symbol: they follow one by one. */
const longSymbol = 0;
const symbolMax = 255;
const widthMax = 52;

/**
 * Writes integers of at most `integerMax` in size: as they are, as their changes, or as differences
 * to a column that the reader has too, whichever is shortest. What is left of each is cut in two:
 * the lower bits, which are noise, are packed, and the upper ones are symbols of a prefix code.
 */
export function putIntegers(sink: ByteSink, integers: Float64Array, beside?: Float64Array): void {
  if (integers.length === 0) return;
  const form = shortestForm(integers, beside);
  const scale = 2 ** form.lowBits;
  const { symbols, upper, isUniform } = symbolsOf(form, scale);
  putByte(
    sink,
    form.heads.length +
      (form.isBeside ? besideBit : 0) +
      (form.isAround ? aroundBit : 0) +
      (isUniform ? 0 : symbolsBit),
  );
  for (const head of form.heads) putZigzag(sink, head);
  putZigzag(sink, form.start);
  putByte(sink, form.lowBits);
  putPacked(sink, form.residues, form.lowBits);
  if (isUniform) return;
  putSymbols(sink, symbols);
  for (const long of upper) putVarint(sink, long);
}

function symbolsOf({ residues }: IntegerForm, scale: number) {
  const symbols = new Uint8Array(residues.length);
  const upper: number[] = [];
  let isUniform = true;
  for (let at = 0; at < residues.length; at += 1) {
    const bits = Math.floor((residues[at] ?? 0) / scale);
    if (bits !== 0) isUniform = false;
    symbols[at] = bits < symbolMax ? bits + 1 : longSymbol;
    if (bits >= symbolMax) upper.push(bits);
  }
  return { symbols, upper, isUniform };
}

/** Reads `count` integers that putIntegers wrote with the same column beside them. */
export function takeIntegers(
  source: ByteSource,
  count: number,
  beside?: Float64Array,
): Float64Array {
  if (count === 0) return new Float64Array(0);
  const kind = takeByte(source);
  const changes = kind & changesMask;
  if (kind > 31 || changes > 2 || changes >= count) throw new DamagedBytesError('unknown integers');
  const heads: number[] = [];
  for (let n = 0; n < changes; n += 1) heads.push(takeZigzag(source));
  const start = takeZigzag(source);
  const lowBits = takeByte(source);
  if (lowBits > widthMax + 1) throw new DamagedBytesError('integers are too wide');
  const residues = takePacked(source, count - changes, lowBits);
  if ((kind & symbolsBit) !== 0) addUpper(source, residues, 2 ** lowBits);
  let integers = shifted(residues, start, (kind & aroundBit) !== 0);
  for (const head of heads.reverse()) integers = summedUp(integers, head);
  if ((kind & besideBit) === 0) return integers;
  if (beside === undefined) throw new DamagedBytesError('nothing is beside these integers');
  for (let at = 0; at < count; at += 1) integers[at] = (integers[at] ?? 0) + (beside[at] ?? 0);
  return integers;
}

function addUpper(source: ByteSource, residues: Float64Array, scale: number): void {
  const symbols = takeSymbols(source, residues.length);
  for (let at = 0; at < residues.length; at += 1) {
    const symbol = symbols[at] ?? 0;
    const upper = symbol === longSymbol ? takeVarint(source) : symbol - 1;
    residues[at] = (residues[at] ?? 0) + upper * scale;
  }
}

function shifted(residues: Float64Array, start: number, isAround: boolean): Float64Array {
  for (let at = 0; at < residues.length; at += 1) {
    const residue = residues[at] ?? 0;
    const half = Math.floor(residue / 2);
    const distance = !isAround ? residue : half * 2 === residue ? half : -half - 1;
    residues[at] = distance + start;
  }
  return residues;
}

/** The integers whose changes these are. */
function summedUp(changes: Float64Array, first: number): Float64Array {
  const integers = new Float64Array(changes.length + 1);
  integers[0] = first;
  let sum = first;
  for (let at = 0; at < changes.length; at += 1) {
    sum += changes[at] ?? 0;
    integers[at + 1] = sum;
  }
  return integers;
}
