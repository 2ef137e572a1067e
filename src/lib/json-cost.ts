const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Costs of reading each part of a JSON text, in about microseconds. */
const cost = { newKey: 1, oldKey: 0.2, text: 0.45, other: 0.03, list: 0.1, exact: 0.5 } as const;
/** Of each character, where numbers are to be kept to the last digit. */
const exactCharacter = 0.005;

/** Keys that were seen, by hash; each call has hashes of its own. */
const seen = new Int32Array(65_536);

/**
 * Estimates from its characters how many microseconds it takes to read a JSON text: new keys cost
 * most, since an object with very many of them is a table of its own. It stops once the cost is
 * above `max`. `isExact`: all is read by our own reader.
 */
export function jsonCost(text: string, max: number, isExact: boolean): number {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const partCost = isExact ? cost.exact : 0;
  let sum = isExact ? text.length * exactCharacter : 0;
  /** Of the text that ended last, if it may still be a key; else undefined. */
  let textHash: number | undefined;
  for (let at = 0; at < text.length && sum <= max; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      let hash = seed;
      for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at += 1) {
        if (text.charCodeAt(at) === backslash) at += 1;
        hash = Math.imul(hash ^ text.charCodeAt(at), hashPrime);
      }
      textHash = hash;
    } else if (code === colon && textHash !== undefined) {
      sum += costOfKey(textHash);
      textHash = undefined;
    } else if (code === comma || code === closeBracket || code === closeBrace) {
      sum += partCost + (textHash === undefined ? cost.other : cost.text);
      textHash = undefined;
    } else if (code === openBracket || code === openBrace) sum += cost.list;
  }
  return sum;
}

/** Of FNV-1a. */
const hashPrime = 0x01000193;

function costOfKey(hash: number): number {
  const slot = (hash ^ (hash >>> 16)) & 0xffff;
  const isOld = seen[slot] === hash;
  seen[slot] = hash;
  return isOld ? cost.oldKey : cost.newKey;
}
