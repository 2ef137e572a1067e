import { parseDuration } from '../../lib/duration.ts';
import { asNumber } from '../../lib/json.ts';
import { compilePattern, type Pattern, PatternError } from '../../lib/pattern.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import { type DomainError, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Criterion, FieldTest, Operand, ParsedCondition, SilenceTest } from './field-test.ts';

export interface ParseOptions {
  /** Name of the text as the client calls it, for error messages: q, expression. */
  readonly label: string;
  /** Names that end at a colon whatever follows; other names may hold colons. */
  readonly isField: (name: string) => boolean;
  /** All patterns together may be as large as one: the text is asked of many things. */
  readonly isForMany?: boolean;
  /** Refuses what can only be a slip: order between texts, and words of expressions in a value. */
  readonly isStrict?: boolean;
}

interface Cursor {
  readonly text: string;
  readonly options: ParseOptions;
  /** Whether `for`, `clear` and `silent` are words of the language. */
  readonly isCondition: boolean;
  at: number;
  /** Instructions that patterns may still have. */
  patternRoom: number;
}

/**
 * The tests of a text in the q language [spec 4, contract 5]: joined by `;`, all must pass.
 * A blank text has none. Throws DomainError invalid that points at the spot.
 */
export function parseTests(text: string, options: ParseOptions): readonly FieldTest[] {
  return parse(text, options, false).tests;
}

/**
 * Reads the q language and beyond it `for 10m` at the end of a test, `clear TC1 < 28` behind it or
 * alone, and `silent(TC1, 2h)` as a test. Throws like `parseTests`.
 */
export function parseCondition(text: string, options: ParseOptions): ParsedCondition {
  return parse(text, options, true);
}

interface Draft {
  readonly tests: FieldTest[];
  readonly silences: SilenceTest[];
  readonly clear: FieldTest[];
  forMs: number;
}

function parse(text: string, options: ParseOptions, isCondition: boolean): ParsedCondition {
  const { queryCharactersMax, queryTestsMax, patternInstructionsMax: patternRoom } = limits;
  if (text.length > queryCharactersMax) {
    throw invalid(
      `${options.label} must have at most ${queryCharactersMax} characters, got ${text.length}`,
    );
  }
  const cursor: Cursor = { text, options, isCondition, at: 0, patternRoom };
  const draft: Draft = { tests: [], silences: [], clear: [], forMs: 0 };
  const { tests, silences, clear } = draft;
  while (true) {
    skipSpace(cursor);
    if (cursor.at >= text.length) return draft;
    if (take(cursor, ';')) continue;
    if (tests.length + silences.length + clear.length >= queryTestsMax) {
      throw invalid(`${options.label} must have at most ${queryTestsMax} tests`);
    }
    if (isCondition) readPart(cursor, draft);
    else tests.push(readTest(cursor));
    expectEnd(cursor);
  }
}

const duration = String.raw`for\s+(\d+(?:\.\d+)?\s*[A-Za-z]*)\s*`;
// An id holds no white space, so `clear TC1 < 28` was never a test of a sensor.
const clearing = String.raw`clear\s+(?=[^\s<>=!~:;][^<>=!~;]*(?:[<>=]|[!~]=))`;
const holdHere = new RegExp(`${duration}(?=;|$|(?<=\\s)${clearing})`, 'y');
const clearHere = new RegExp(clearing, 'y');
const clearAlone = /clear\s+(?=[^\s<>=!~:;])/y;
const silenceHere = /silent\s*\(/y;
const silenceWhole = /silent\s*\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)(?=\s|;|$)/y;
/** Where unquoted text ends for a word of conditions; alone, such a word is part of the text. */
const wordsAhead = new RegExp(
  `(?<=\\s)(?:${duration}(?:;|$|(?<=\\s)${clearing})|${clearing})`,
  'g',
);

/** Reads a part of a condition: a test or a silence, with the words behind it. */
function readPart(cursor: Cursor, draft: Draft): void {
  const alone = matchHere(cursor, clearAlone);
  if (alone !== null) readClear(cursor, draft, alone[0].length);
  else readTestPart(cursor, draft);
}

function readTestPart(cursor: Cursor, draft: Draft): void {
  if (matchHere(cursor, silenceHere) !== null) draft.silences.push(readSilence(cursor));
  else if (matchHere(cursor, holdHere) === null) draft.tests.push(readTest(cursor));
  skipSpace(cursor);
  const hold = matchHere(cursor, holdHere);
  if (hold !== null) {
    if (draft.forMs > 0) {
      throw fault(cursor, cursor.at, 'for may be written once: it is about the whole condition');
    }
    draft.forMs = readDuration(cursor, cursor.at, hold[1] ?? '');
    cursor.at += hold[0].length;
    skipSpace(cursor);
  }
  const clear = matchHere(cursor, clearHere);
  if (clear !== null) readClear(cursor, draft, clear[0].length);
}

function readClear(cursor: Cursor, draft: Draft, length: number): void {
  const start = cursor.at + length;
  if (draft.clear.length > 0) throw fault(cursor, start, 'clear may be written once');
  cursor.at = start;
  draft.clear.push(readTest(cursor));
  skipSpace(cursor);
  if (matchHere(cursor, holdHere) !== null) {
    throw fault(cursor, start, 'for belongs to the condition, in front of clear');
  }
}

function readSilence(cursor: Cursor): SilenceTest {
  const found = matchHere(cursor, silenceWhole);
  const [whole = '', name = '', duration = ''] = found ?? [];
  if (found === null) {
    throw fault(cursor, cursor.at, 'expected silent(sensor, time), as in silent(TC1, 2h)');
  }
  const durationMs = readDuration(cursor, cursor.at + whole.lastIndexOf(duration), duration);
  cursor.at += whole.length;
  return { name, durationMs };
}

function readDuration(cursor: Cursor, at: number, text: string): number {
  const ms = parseDuration(text) ?? Number.NaN;
  const { expressionDurationMsMin: min, expressionDurationMsMax: max } = limits;
  if (ms >= min && ms <= max) return ms;
  const problem = `expected a time of 1s to 366d, such as 90s, 10m, 2h or 1d, got ${text.trim()}`;
  throw fault(cursor, at, problem);
}

function matchHere({ text, at }: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readTest(cursor: Cursor): FieldTest {
  if (cursor.text[cursor.at] === '!' && cursor.text[cursor.at + 1] !== '=') {
    cursor.at += 1;
    skipSpace(cursor);
    return { operator: 'absent', name: readAbsentName(cursor) };
  }
  const name = readName(cursor);
  const operator = readOperator(cursor);
  if (operator === undefined) return { operator: 'exists', name };
  skipSpace(cursor);
  if (operator === '~=') return { operator, name, pattern: readPattern(cursor) };
  if (operator === '==' || operator === '!=') return { operator, name, anyOf: readList(cursor) };
  const start = cursor.at;
  const operand = readOperand(cursor);
  if (cursor.options.isStrict === true) requireOrdered(cursor, start, operand);
  return { operator, name, operand };
}

function readAbsentName(cursor: Cursor): string {
  if (cursor.text[cursor.at] === "'") return readQuoted(cursor);
  return readFieldName(cursor, endOf(cursor, /[;<>=']/g));
}

/** Leaves the cursor at the operator, the `;` or the end that follows the name. */
function readName(cursor: Cursor): string {
  if (cursor.text[cursor.at] === "'") {
    const name = readQuoted(cursor);
    if (name === '') throw malformed(cursor, 'a field name');
    skipSpace(cursor);
    return name;
  }
  return readFieldName(cursor, nameEnd(cursor));
}

/** In filters and stored expressions what is no field matches nothing [contract 5, 14]. */
function readFieldName(cursor: Cursor, end: number): string {
  const start = cursor.at;
  const name = readRaw(cursor, end, 'a field name');
  const at = name.search(/[()]/);
  if (at < 0 || cursor.options.isStrict !== true) return name;
  const problem = 'in its name: join tests by ; without brackets, and all must hold';
  throw fault(cursor, start + at, `no field has a ${name[at]} ${problem}`);
}

/** A colon, which ids may hold, is the operator only as the first one, or behind a field's name. */
function nameEnd(cursor: Cursor): number {
  const end = endOf(cursor, /[;'=<>]|[!~]=/g);
  const colon = cursor.text.indexOf(':', cursor.at);
  if (colon < 0 || colon >= end) return end;
  const isOperator = end < cursor.text.length && /[=<>!~]/.test(cursor.text[end] ?? '');
  const head = cursor.text.slice(cursor.at, colon).trim();
  return isOperator && !cursor.options.isField(head) ? end : colon;
}

// Longer ones first. A single = is understood too: it has no other meaning.
const operators = ['==', '!=', '<=', '>=', '~=', '<', '>', '=', ':'] as const;

function readOperator(cursor: Cursor): Exclude<(typeof operators)[number], '=' | ':'> | undefined {
  if (cursor.options.isStrict === true && cursor.text.startsWith('=~', cursor.at)) {
    throw fault(cursor, cursor.at, 'write ~= for a regular expression, got =~');
  }
  for (const operator of operators) {
    if (take(cursor, operator)) return operator === '=' || operator === ':' ? '==' : operator;
  }
  return undefined;
}

function readList(cursor: Cursor): readonly Criterion[] {
  const anyOf: Criterion[] = [];
  do {
    skipSpace(cursor);
    anyOf.push(readCriterion(cursor));
  } while (take(cursor, ','));
  return anyOf;
}

function readCriterion(cursor: Cursor): Criterion {
  const start = cursor.at;
  const from = readOperand(cursor);
  if (!take(cursor, '..')) return from;
  skipSpace(cursor);
  const to = readOperand(cursor);
  if (from.number !== undefined && to.number !== undefined) {
    const isTurned = from.number > to.number;
    if (!isTurned || cursor.options.isStrict !== true) return { from, to };
    const shown = `${from.text}..${to.text}`;
    throw fault(cursor, start, `a range begins with its lower end, got ${shown}`);
  }
  // Ends are compared alike: 1..b is a range of texts.
  return { from: { ...from, number: undefined }, to: { ...to, number: undefined } };
}

function readOperand(cursor: Cursor): Operand {
  if (cursor.text[cursor.at] === "'") {
    const text = readQuoted(cursor);
    skipSpace(cursor);
    return { text, number: undefined, instant: parseTimestamp(text) };
  }
  const start = cursor.at;
  const text = readRaw(cursor, endOf(cursor, /[;,'=<>]|\.\./g), "a value (text in '…' may be any)");
  if (cursor.options.isStrict === true) refuseWords(cursor, start, text);
  return { text, number: asNumber(text), instant: parseTimestamp(text) };
}

/** Order is for numbers and moments; text has it only where quotes say that text is meant. */
function requireOrdered(cursor: Cursor, start: number, operand: Operand): void {
  const isMeant = cursor.text[start] === "'";
  if (isMeant || operand.number !== undefined || operand.instant !== undefined) return;
  const shown = JSON.stringify(operand.text.slice(0, 60));
  throw invalid(
    `${place(cursor, start)}: < > <= >= compare with a number, got ${shown}: write the sensor on ` +
      "the left and a number without its unit on the right, or text in '…'",
  );
}

/** `for` and `clear` were read before: what is left of them in a value says nothing. */
function refuseWords(cursor: Cursor, start: number, text: string): void {
  const word = /\s(for|clear|silent)(?=\s|\(|$)/.exec(text);
  if (word === null) return;
  throw invalid(
    `${place(cursor, start + word.index + 1)}: ${word[1]} is not understood here: write it ` +
      "once, as in TC1 > 8 for 10m clear TC1 < 7, or text in '…'",
  );
}

function readPattern(cursor: Cursor): Pattern {
  const start = cursor.at;
  const source =
    cursor.text[start] === "'"
      ? readQuoted(cursor)
      : readRaw(cursor, endOf(cursor, /;/g), 'a regular expression');
  skipSpace(cursor);
  try {
    const pattern = compilePattern(source, {
      sourceCharactersMax: limits.patternCharactersMax,
      instructionsMax: cursor.patternRoom,
      textCharactersMax: limits.patternTextCharactersMax,
    });
    if (cursor.options.isForMany === true) cursor.patternRoom -= pattern.instructions;
    return pattern;
  } catch (reason) {
    if (!(reason instanceof PatternError)) throw reason;
    throw invalid(`${place(cursor, start)}: ${reason.message}`);
  }
}

/** Text in quotes, in which two quotes are one. */
function readQuoted(cursor: Cursor): string {
  const start = cursor.at;
  let text = '';
  let at = start + 1;
  while (true) {
    const quote = cursor.text.indexOf("'", at);
    if (quote < 0) throw invalid(`${place(cursor, start)}: the quote that opens here never closes`);
    text += cursor.text.slice(at, quote);
    if (cursor.text[quote + 1] !== "'") {
      cursor.at = quote + 1;
      return text;
    }
    text += "'";
    at = quote + 2;
  }
}

function readRaw(cursor: Cursor, end: number, expected: string): string {
  const text = cursor.text.slice(cursor.at, end).trim();
  if (text === '') throw malformed(cursor, expected);
  cursor.at = end;
  return text;
}

/** Where one of the stops begins, or the end of the text. */
function endOf({ text, at, isCondition }: Cursor, stops: RegExp): number {
  let end = text.length;
  for (const pattern of isCondition ? [stops, wordsAhead] : [stops]) {
    pattern.lastIndex = at;
    end = Math.min(end, pattern.exec(text)?.index ?? end);
  }
  return end;
}

function take(cursor: Cursor, expected: string): boolean {
  if (!cursor.text.startsWith(expected, cursor.at)) return false;
  cursor.at += expected.length;
  return true;
}

function skipSpace(cursor: Cursor): void {
  while (/\s/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1;
}

function expectEnd(cursor: Cursor): void {
  skipSpace(cursor);
  if (cursor.at < cursor.text.length && cursor.text[cursor.at] !== ';') {
    throw malformed(cursor, '; or the end');
  }
}

const fault = (cursor: Cursor, at: number, problem: string): DomainError =>
  invalid(`${place(cursor, at)}: ${problem}`);

function malformed(cursor: Cursor, expected: string): DomainError {
  const found = cursor.text.codePointAt(cursor.at);
  const got = found === undefined ? 'the end' : JSON.stringify(String.fromCodePoint(found));
  return fault(cursor, cursor.at, `expected ${expected}, got ${got}`);
}

function place(cursor: Cursor, at: number): string {
  return `${cursor.options.label} is malformed at character ${at + 1}`;
}
