import { asNumber, isBigNumber, type JsonValue } from './json.ts';
import { decimalOf } from './json-number.ts';

/**
 * Compares two numbers, JSON numbers or decimal texts as `asNumber` reads them: below 0, 0 or above
 * 0 as the first is less, equal or greater. Undefined where one of them is no number. Two that one
 * double stands for are compared digit by digit.
 */
export function compareNumbers(a: JsonValue, b: JsonValue): number | undefined {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x === undefined || y === undefined) return undefined;
  // Rounding keeps the order: only equal doubles may stand for numbers that differ.
  if (x !== y) return x < y ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return 0;
  return compareLiterals(literalOf(a), literalOf(b));
}

const literalOf = (value: JsonValue): string =>
  isBigNumber(value) ? value.rawJSON : String(value).trim();

/** Digits that a double always holds: equal doubles of shorter literals are equal numbers. */
const shortLength = 15;

function compareLiterals(a: string, b: string): number {
  const isShort = a.length <= shortLength && b.length <= shortLength;
  if (isShort && !/e/i.test(a + b)) return 0;
  const [x, y] = [decimalOf(a), decimalOf(b)];
  const signs = signOf(a, x.digits) - signOf(b, y.digits);
  if (signs !== 0) return Math.sign(signs);
  if (x.digits === '') return 0;
  const isLess = x.exponent === y.exponent ? x.digits < y.digits : x.exponent < y.exponent;
  if (!isLess && x.exponent === y.exponent && x.digits === y.digits) return 0;
  return isLess === a.startsWith('-') ? 1 : -1;
}

const signOf = (literal: string, digits: string): number =>
  digits === '' ? 0 : literal.startsWith('-') ? -1 : 1;
