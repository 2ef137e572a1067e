import { parseDuration } from '../../src/lib/duration.ts';

/** How a value is compared with what is typed. */
export type Comparison = 'below' | 'above' | 'atMost' | 'atLeast' | 'equals' | 'differs';

/** How a value lies to two ends. */
export type Placing = 'between' | 'outside';

/** One condition, as the form has it. Values are as typed: a number, or a word. */
export type Condition =
  | {
      readonly kind: 'compare';
      readonly sensor: string;
      readonly comparison: Comparison;
      readonly value: string;
    }
  | {
      readonly kind: 'range';
      readonly sensor: string;
      readonly placing: Placing;
      readonly low: string;
      readonly high: string;
    }
  | { readonly kind: 'silent'; readonly sensor: string; readonly seconds: number };

/** What an alert watches: all conditions hold, for so long; then not again before it is clear. */
export interface Sentence {
  readonly conditions: readonly Condition[];
  /** 0: it fires at once. */
  readonly forSeconds: number;
  readonly clear?: Extract<Condition, { kind: 'compare' }>;
}

/** How each is written in an expression. */
export const operators: Readonly<Record<Comparison, string>> = {
  below: '<',
  above: '>',
  atMost: '<=',
  atLeast: '>=',
  equals: '==',
  differs: '!=',
};

const numeral = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Whether the service compares the text as a number. */
export const isNumeral = (text: string): boolean => numeral.test(text);

/** The sentence of an expression; undefined when the form has no words for it. */
export function readSentence(expression: string): Sentence | undefined {
  const conditions: Condition[] = [];
  let forSeconds = 0;
  let clear: Sentence['clear'];
  for (const segment of segmentsOf(expression)) {
    const text = segment.trim();
    const cleared = /^(.*?)(?:^|\s)clear\s+(?=[^\s<>=!~:])(.*)$/s.exec(text);
    const isClear = cleared !== null && !isInQuotes(text, (cleared[1] ?? '').length);
    const [front, back] = isClear ? [cleared[1] ?? '', cleared[2] ?? ''] : [text, undefined];
    const { test, hold } = withoutHold(front);
    if (hold !== undefined) {
      const seconds = secondsOf(hold);
      if (seconds === undefined || forSeconds > 0) return undefined;
      forSeconds = seconds;
    }
    if (test !== '') {
      const condition = readCondition(test);
      if (condition === undefined) return undefined;
      conditions.push(condition);
    }
    if (back === undefined) continue;
    const read = readCondition(back.trim());
    if (read?.kind !== 'compare' || clear !== undefined) return undefined;
    clear = read;
  }
  if (conditions.length === 0 && (forSeconds > 0 || clear !== undefined)) return undefined;
  return { conditions, forSeconds, ...(clear !== undefined && { clear }) };
}

/** Parts `for 20m` from the test in front of it. */
function withoutHold(text: string): { readonly test: string; readonly hold?: string } {
  const [, test = '', hold] = /^(.*\S)\s+for\s+(\S+)$/s.exec(text) ?? [];
  if (hold === undefined || isInQuotes(text, test.length)) return { test: text.trim() };
  return { test: test.trim(), hold };
}

function segmentsOf(text: string): readonly string[] {
  const segments: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== ';' || isInQuotes(text, at)) continue;
    segments.push(text.slice(start, at));
    start = at + 1;
  }
  return [...segments, text.slice(start)];
}

const isInQuotes = (text: string, at: number): boolean =>
  (text.slice(0, at).split("'").length - 1) % 2 === 1;

function secondsOf(text: string): number | undefined {
  const seconds = (parseDuration(text) ?? 0) / 1_000;
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : undefined;
}

const nameSource = "('(?:[^']|'')+'|[^\\s'<>=!~;:,()][^\\s'<>=!~;,()]*)";
const silence = /^silent\s*\(\s*([^\s,()']+)\s*,\s*([^\s,()]+)\s*\)$/;
const comparing = new RegExp(`^${nameSource}\\s*(<=|>=|==|!=|<|>|=)\\s*(\\S.*)$`, 's');

function readCondition(text: string): Condition | undefined {
  const [, silentSensor, time = ''] = silence.exec(text) ?? [];
  if (silentSensor !== undefined) {
    const seconds = secondsOf(time);
    return seconds === undefined ? undefined : { kind: 'silent', sensor: silentSensor, seconds };
  }
  const [, name = '', sign = '', operand = ''] = comparing.exec(text) ?? [];
  const sensor = name.startsWith("'") ? unquoted(name) : name;
  if (sensor === '') return undefined;
  return readCompared(sensor, sign === '=' ? '==' : sign, operand.trim());
}

function readCompared(sensor: string, sign: string, operand: string): Condition | undefined {
  const value = readOperand(operand);
  const comparison = (Object.keys(operators) as Comparison[]).find(
    (name) => operators[name] === sign,
  );
  if (comparison === undefined) return undefined;
  if (value !== undefined) return { kind: 'compare', sensor, comparison, value };
  if (comparison !== 'equals' && comparison !== 'differs') return undefined;
  const [, from = '', to = ''] = ends.exec(operand) ?? [];
  const low = readOperand(from);
  const high = readOperand(to);
  if (low === undefined || high === undefined) return undefined;
  const placing = comparison === 'equals' ? 'between' : 'outside';
  return { kind: 'range', sensor, placing, low, high };
}

const ends = /^('(?:[^']|'')*'|[^'\s]+?)\s*\.\.\s*('(?:[^']|'')*'|[^'\s]+)$/s;

/** A number, or a text with or without quotes; undefined for lists, ranges, and '30' as text. */
function readOperand(text: string): string | undefined {
  if (/^'(?:[^']|'')*'$/s.test(text)) {
    const inner = unquoted(text);
    return isNumeral(inner) ? undefined : inner;
  }
  if (text === '' || /[',<>=()]|\.\./.test(text)) return undefined;
  return text;
}

const unquoted = (text: string): string => text.slice(1, -1).replaceAll("''", "'");
