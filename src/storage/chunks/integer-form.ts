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
export interface IntegerForm {
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
export function shortestForm(integers: Float64Array, beside?: Float64Array): IntegerForm {
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
export function bitLength(integer: number): number {
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
