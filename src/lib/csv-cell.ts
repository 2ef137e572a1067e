import { bareKind, failedProbeReason, withoutPadding } from './bare-value.ts';
import type { CsvCell } from './csv-reader.ts';

/** A cell whose value is refused; the message says why. */
export class CsvCellError extends Error {}

/**
 * The value of a cell as JSON text [contract 15]. Bare cells are read by the rule of bare values;
 * `true`, `false` and `null` are words. A cell in quotes is a text, but for objects, arrays and
 * JSON strings. Throws CsvCellError.
 */
export function cellJson({ text, isQuoted }: CsvCell, hasDecimalCommas: boolean): string {
  if (isGuarded(text)) return JSON.stringify(text.slice(1));
  if (isStructured(text)) return text;
  if (isQuoted) return JSON.stringify(text);
  const bare = hasDecimalCommas && decimalComma.test(text) ? text.replace(',', '.') : text;
  const kind = bareKind(withoutPadding(bare));
  if (kind === 'failed probe') throw new CsvCellError(failedProbeReason(withoutPadding(text)));
  const isLiteral = kind === 'number' || jsonWord.test(text);
  return isLiteral ? withoutPadding(bare).trim() : JSON.stringify(withoutPadding(text));
}

/** Whether a text is read as itself from a bare cell, but for structures and padding. */
export const isBareText = (text: string): boolean =>
  bareKind(text) === 'text' && !jsonWord.test(text);

const decimalComma = /^[^,]*\d,\d[^,]*$/;
const jsonWord = /^\s*(?:true|false|null)[\s\0]*$/;
const structureStart = /^\s*["[{]/;

/** Whether a text is a JSON object, array or string. */
export function isStructured(text: string): boolean {
  if (!structureStart.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const formulaStart = /^[=+\-@\t\r\n'＝＋－＠]/;
const plainNumber = /^[+-](?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Longer texts are no number. */
const numberCharactersMax = 1_024;

/**
 * Whether a spreadsheet might take a text for a formula; also true for a leading apostrophe, so
 * that taking one away always gives the text back.
 */
export function looksLikeFormula(text: string): boolean {
  if (!formulaStart.test(text)) return false;
  const isNumber = text.length <= numberCharactersMax && plainNumber.test(text);
  return !isNumber || !Number.isFinite(Number(text));
}

/** Whether the apostrophe before a text was put there to guard a formula. */
const isGuarded = (text: string): boolean =>
  text.startsWith("'") && looksLikeFormula(text.slice(1));

/** Takes the guard of a formula off. */
export const unguarded = (text: string): string => (isGuarded(text) ? text.slice(1) : text);
