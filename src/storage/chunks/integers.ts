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

/** Greater ones are not worth it, or not exact: other forms are as good. */
const residueMax = 2 ** 52;
const symbolBits = 8;
const bins = 2 ** symbolBits;
/** The cost of a prefix code before its first symbol, and for each symbol, in bits. */
const codeHeadBits = 16;
const bitsPerSymbol = 4;
/** An integer that is too long for a symbol: a symbol that says so, and its upper bits. */
const longBits = 28;
const changesMax = 2;
/** Samples that are read to find the likeliest form. */
const samples = 101;
const splitSamples = 512;

/** How a column of integers is written, and about how many bits that takes. */
interface IntegerForm {
  /** Empty: the integers. The first: changes from it. And the first change: changes of changes. */
  readonly heads: readonly number[];
  /** Differences to the column beside. */
  readonly isBeside: boolean;
  /** Residues are distances from `start` in both directions, instead of upwards. */
  readonly isAround: boolean;
  readonly start: number;
  /** The rest of each integer, not negative. */
  readonly residues: Float64Array;
  /** So many bits of each residue are noise, and the rest is a symbol. */
  readonly lowBits: number;
  readonly bits: number;
}

/**
 * The shortest form of one integer or more, or nearly so: only the likeliest is measured. Integers
 * of at most `integerMax` in size have one: as they are, they are no further apart than residues.
 */
function shortestForm(integers: Float64Array, beside?: Float64Array): IntegerForm {
  const form = formOf(integers, beside, likeliest(integers, beside)) ?? formOf(integers);
  if (form === undefined) throw new Error('these integers are too large for their form');
  return form;
}

const asTheyAre: LikelyForm = { isBeside: false, changes: 0, middle: 0 };

/** Undefined: differences or changes are too large for it. */
function formOf(
  integers: Float64Array,
  beside?: Float64Array,
  { isBeside, changes, middle }: LikelyForm = asTheyAre,
): IntegerForm | undefined {
  let column = beside !== undefined && isBeside ? minus(integers, beside) : integers;
  const heads: number[] = [];
  while (heads.length < changes) {
    heads.push(column[0] ?? 0);
    column = changesOf(column);
  }
  const up = closeForm(column, leastOf(column), false);
  const around = up?.bits === 0 ? undefined : closeForm(column, middle, true);
  const form = around === undefined || (up !== undefined && up.bits <= around.bits) ? up : around;
  return form && { ...form, heads, isBeside };
}

interface LikelyForm {
  readonly isBeside: boolean;
  /** How often changes are taken. */
  readonly changes: number;
  readonly middle: number;
}

/** The columns that are the narrowest about their middle, judged by some integers. */
function likeliest(integers: Float64Array, beside: Float64Array | undefined): LikelyForm {
  let best = { isBeside: false, changes: 0, middle: 0, width: Number.POSITIVE_INFINITY };
  const changesLimit = Math.min(changesMax, integers.length - 1);
  for (const others of beside === undefined ? [undefined] : [undefined, beside]) {
    const isBeside = others !== undefined;
    for (let changes = 0; changes <= changesLimit; changes += 1) {
      const { middle, width } = widthOf(someChanges(integers, others, changes));
      if (width < best.width) best = { isBeside, changes, middle, width };
    }
  }
  return best;
}

/** Some integers less those of the other column, their changes, or the changes of those. */
function someChanges(
  integers: Float64Array,
  others: Float64Array | undefined,
  changes: number,
): Float64Array {
  const valueAt = (at: number): number => (integers[at] ?? 0) - (others?.[at] ?? 0);
  const count = integers.length - changes;
  const step = Math.max(1, Math.floor(count / samples));
  const some = new Float64Array(Math.ceil(count / step));
  for (let n = 0; n < some.length; n += 1) {
    const at = changes + n * step;
    const value = valueAt(at);
    if (changes === 0) some[n] = value;
    else if (changes === 1) some[n] = value - valueAt(at - 1);
    else some[n] = value - 2 * valueAt(at - 1) + valueAt(at - 2);
  }
  return some;
}

/** Puts them in order; about how many bits the distance of one from the middle has. */
function widthOf(some: Float64Array): { readonly middle: number; readonly width: number } {
  const middle = some.sort()[some.length >> 1] ?? 0;
  let width = 0;
  for (const value of some) width += Math.log2(1 + Math.abs(value - middle));
  return { middle, width: width / Math.max(1, some.length) };
}

function closeForm(column: Float64Array, start: number, isAround: boolean) {
  const left = residuesOf(column, start, isAround);
  return left && { isAround, start, residues: left.residues, ...splitOf(left.residues, left.most) };
}

function minus(integers: Float64Array, others: Float64Array): Float64Array {
  const differences = new Float64Array(integers.length);
  for (let at = 0; at < integers.length; at += 1) {
    differences[at] = (integers[at] ?? 0) - (others[at] ?? 0);
  }
  return differences;
}

function changesOf(integers: Float64Array): Float64Array {
  const changes = new Float64Array(integers.length - 1);
  for (let at = 0; at < changes.length; at += 1) {
    changes[at] = (integers[at + 1] ?? 0) - (integers[at] ?? 0);
  }
  return changes;
}

/** Undefined: they are too large. */
function residuesOf(
  column: Float64Array,
  start: number,
  isAround: boolean,
): { readonly residues: Float64Array; readonly most: number } | undefined {
  const residues = new Float64Array(column.length);
  let most = 0;
  for (let at = 0; at < column.length; at += 1) {
    const distance = (column[at] ?? 0) - start;
    const residue = !isAround ? distance : distance < 0 ? -2 * distance - 1 : 2 * distance;
    residues[at] = residue;
    if (residue > most) most = residue;
  }
  return most <= residueMax && Math.abs(start) <= residueMax ? { residues, most } : undefined;
}

function leastOf(column: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (const integer of column) if (integer < least) least = integer;
  return least;
}

/** How many bits write this integer, which is not negative. */
function bitLength(integer: number): number {
  if (integer < 2 ** 31) return 32 - Math.clz32(integer);
  return 31 + bitLength(Math.floor(integer / 2 ** 31));
}

/** Where to cut residues in two, and about how many bits that makes of each: samples some. */
function splitOf(residues: Float64Array, most: number): Pick<IntegerForm, 'lowBits' | 'bits'> {
  let best = { lowBits: bitLength(most), bits: bitLength(most) * residues.length };
  if (best.bits === 0) return best;
  const step = Math.max(1, Math.floor(residues.length / splitSamples));
  const common = commonLength(residues, step);
  const lowest = Math.max(0, common - symbolBits);
  const { counts, long, total } = histogramOf(residues, 2 ** lowest, step);
  const scale = residues.length / total;
  for (let folds = 0; folds <= Math.min(symbolBits, common); folds += 1) {
    const lowBits = lowest + folds;
    const bits =
      lowBits * residues.length +
      scale * (long * longBits + codeBits(counts, total)) +
      codeHeadBits;
    if (bits < best.bits) best = { lowBits, bits };
    for (let bin = 0; bin < bins >>> folds; bin += 1) {
      counts[bin] = (counts[bin * 2] ?? 0) + (counts[bin * 2 + 1] ?? 0);
    }
  }
  return best;
}

/** Nearly all have no more bits. */
function commonLength(residues: Float64Array, step: number): number {
  const lengths = new Uint32Array(54);
  for (let at = 0; at < residues.length; at += step) {
    const length = bitLength(residues[at] ?? 0);
    lengths[length] = (lengths[length] ?? 0) + 1;
  }
  let common = lengths.length - 1;
  let rarer = lengths[common] ?? 0;
  while (common > 0 && rarer * 50 * step < residues.length) {
    common -= 1;
    rarer += lengths[common] ?? 0;
  }
  return common;
}

function histogramOf(residues: Float64Array, scale: number, step: number) {
  const counts = new Uint32Array(2 * bins);
  let long = 0;
  let total = 0;
  for (let at = 0; at < residues.length; at += step) {
    const bin = Math.floor((residues[at] ?? 0) / scale);
    // The last bin is the escape's.
    if (bin >= bins - 1) long += 1;
    else counts[bin] = (counts[bin] ?? 0) + 1;
    total += 1;
  }
  return { counts, long, total };
}

function codeBits(counts: Uint32Array, total: number): number {
  let bits = 0;
  let symbols = 0;
  const logTotal = Math.log2(total);
  for (let bin = 0; bin < bins; bin += 1) {
    const count = counts[bin] ?? 0;
    if (count === 0) continue;
    symbols += 1;
    bits += count * Math.max(0.1, logTotal - Math.log2(count));
  }
  return bits + symbols * bitsPerSymbol;
}
