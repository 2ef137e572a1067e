import {
  type ByteSink,
  type ByteSource,
  DamagedBytesError,
  putByte,
  putBytes,
  takeByte,
} from './bytes.ts';

/** No code is longer, so that one lookup in a table of 4 096 entries decodes a symbol. */
const codeBitsMax = 12;

/**
 * Writes symbols, bytes of two kinds at least, in a canonical Huffman code: the lengths of the
 * codes, half a byte for each symbol between the least and the greatest, and then the codes.
 */
export function putSymbols(sink: ByteSink, symbols: Uint8Array): void {
  const counts = new Uint32Array(256);
  for (const symbol of symbols) counts[symbol] = (counts[symbol] ?? 0) + 1;
  const lengths = codeLengths(counts);
  const first = lengths.findIndex((length) => length > 0);
  const last = lengths.findLastIndex((length) => length > 0);
  putByte(sink, first);
  putByte(sink, last);
  for (let symbol = first; symbol <= last; symbol += 2) {
    const next = symbol < last ? (lengths[symbol + 1] ?? 0) : 0;
    putByte(sink, (lengths[symbol] ?? 0) | (next << 4));
  }
  putBytes(sink, encode(symbols, lengths));
}

function encode(symbols: Uint8Array, lengths: Uint8Array): Uint8Array {
  const codes = codesOf(lengths);
  let bits = 0;
  for (const symbol of symbols) bits += lengths[symbol] ?? 0;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  let held = 0;
  let heldBits = 0;
  let at = 0;
  for (const symbol of symbols) {
    held |= (codes[symbol] ?? 0) << heldBits;
    heldBits += lengths[symbol] ?? 0;
    while (heldBits >= 8) {
      bytes[at] = held;
      held >>>= 8;
      heldBits -= 8;
      at += 1;
    }
  }
  if (heldBits > 0) bytes[at] = held;
  return bytes;
}

/** Reads `count` symbols that putSymbols wrote. Four bytes more must follow them. */
export function takeSymbols(source: ByteSource, count: number): Uint8Array {
  const first = takeByte(source);
  const last = takeByte(source);
  const lengths = new Uint8Array(256);
  for (let symbol = first; symbol <= last; symbol += 2) {
    const both = takeByte(source);
    lengths[symbol] = both & 15;
    if (symbol < last) lengths[symbol + 1] = both >>> 4;
  }
  const table = decodingTable(lengths);
  const mask = table.length - 1;
  const { view } = source;
  const symbols = new Uint8Array(count);
  const bitsEnd = (view.byteLength - 4) * 8;
  let bit = source.offset * 8;
  for (let at = 0; at < count; at += 1) {
    if (bit > bitsEnd) throw new DamagedBytesError('they end too early');
    const entry = table[(view.getUint32(bit >>> 3, true) >>> (bit & 7)) & mask] ?? 0;
    symbols[at] = entry >>> 4;
    bit += entry & 15;
  }
  source.offset = Math.ceil(bit / 8);
  return symbols;
}

/** For each bits that may come: the symbol, and how many of the bits are its code. */
function decodingTable(lengths: Uint8Array): Uint16Array {
  let longest = 0;
  for (const length of lengths) if (length > longest) longest = length;
  if (longest > codeBitsMax) throw new DamagedBytesError('no prefix code');
  const tableSize = 2 ** longest;
  const table = new Uint16Array(tableSize);
  const codes = codesOf(lengths);
  let filled = 0;
  for (let symbol = 0; symbol < 256; symbol += 1) {
    const length = lengths[symbol] ?? 0;
    if (length === 0) continue;
    filled += 2 ** (longest - length);
    if (filled > tableSize) throw new DamagedBytesError('no prefix code');
    const entry = (symbol << 4) | length;
    for (let at = codes[symbol] ?? 0; at < tableSize; at += 2 ** length) table[at] = entry;
  }
  if (filled !== tableSize) throw new DamagedBytesError('no whole prefix code');
  return table;
}

/** The canonical codes of these lengths, the first bit lowest. */
function codesOf(lengths: Uint8Array): Uint16Array {
  const next = firstCodes(lengths);
  const codes = new Uint16Array(256);
  for (let symbol = 0; symbol < 256; symbol += 1) {
    const length = lengths[symbol] ?? 0;
    if (length === 0) continue;
    const code = next[length] ?? 0;
    codes[symbol] = reversed(code, length);
    next[length] = code + 1;
  }
  return codes;
}

/** Of each length the code of its first symbol: the ones before it are all of shorter codes. */
function firstCodes(lengths: Uint8Array): Uint16Array {
  const counts = new Uint16Array(codeBitsMax + 1);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  const first = new Uint16Array(codeBitsMax + 1);
  for (let length = 2; length <= codeBitsMax; length += 1) {
    first[length] = 2 * ((first[length - 1] ?? 0) + (counts[length - 1] ?? 0));
  }
  return first;
}

function reversed(code: number, length: number): number {
  let turned = 0;
  for (let bit = 0; bit < length; bit += 1) turned |= ((code >>> bit) & 1) << (length - 1 - bit);
  return turned;
}

/** The lengths of Huffman's codes; where one is too long, counts are evened out first. */
function codeLengths(counts: Uint32Array): Uint8Array {
  for (let least = 0; ; least = Math.max(1, least * 2)) {
    const lengths = huffmanLengths(counts, least);
    if (lengths.every((length) => length <= codeBitsMax)) return lengths;
  }
}

function huffmanLengths(counts: Uint32Array, least: number): Uint8Array {
  const lengths = new Uint8Array(256);
  const trees: { weight: number; symbols: number[] }[] = [];
  for (const [symbol, count] of counts.entries()) {
    if (count > 0) trees.push({ weight: Math.max(count, least), symbols: [symbol] });
  }
  trees.sort((a, b) => b.weight - a.weight);
  while (trees.length > 1) {
    const one = trees.pop();
    const other = trees.pop();
    if (one === undefined || other === undefined) break;
    const joined = {
      weight: one.weight + other.weight,
      symbols: [...one.symbols, ...other.symbols],
    };
    for (const symbol of joined.symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
    let at = trees.length;
    while (at > 0 && (trees[at - 1]?.weight ?? 0) < joined.weight) at -= 1;
    trees.splice(at, 0, joined);
  }
  return lengths;
}
