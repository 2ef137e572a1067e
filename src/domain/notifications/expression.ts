import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { passes } from '../devices/query-evaluation.ts';
import { type FieldTest, type ParseOptions, parseTests } from '../devices/query-parser.ts';
import { DomainError, invalid } from '../errors.ts';
import { parseSensorId, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';

/** `silent(TC1, 2h)`: no datapoint of the sensor for that long. */
export interface Silence {
  readonly sensorId: SensorId;
  readonly durationMs: number;
}

/** What an expression means; all tests and silences must hold. */
export interface Expression {
  readonly tests: readonly FieldTest[];
  readonly silences: readonly Silence[];
  /** How long the condition must have held; 0: it fires at once. */
  readonly forMs: number;
  /** After a firing these must hold before it fires again; empty: it may fire at every push. */
  readonly clear: readonly FieldTest[];
  /** Every sensor that it names, each once. */
  readonly sensors: readonly SensorId[];
}

/** What is known of a device's sensors at one moment. */
export interface DeviceView {
  readonly now: Instant;
  value(sensorId: string): JsonValue | undefined;
  /** When the sensor was last heard of. */
  seenAt(sensorId: string): Instant | undefined;
}

const label = 'expression';
const lenient: ParseOptions = { label, isField: () => false };
const strict: ParseOptions = { ...lenient, isStrict: true };

const extension = /\b(?:for|clear|silent)\b/;
const silenceStart = /^\s*silent\s*\(/;
const silenceWhole = /^\s*silent\s*\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)\s*$/;
// An id holds no white space, so `clear TC1 < 28` was never a test of a sensor.
const clearStart = /^(\s*clear\s+)(?=[^\s<>=!~:;])/;
const clearInside = /\s(clear\s+[^\s<>=!~:;][^<>=!~]*(?:[<>=]|[!~]=).*)$/s;
const holdEnd = /\sfor\s+(\d+(?:\.\d+)?\s*[A-Za-z]*)\s*$/;

/**
 * Reads an expression: the q language over sensor ids [contract 7], and beyond it `for 10m` at the
 * end of a test, `clear TC1 < 28`, and `silent(TC1, 2h)`. Throws invalid that points at the spot;
 * with `isStrict` also for what is well-formed and means nothing, as new expressions are read.
 */
export function parseExpression(
  text: string,
  { isStrict }: { readonly isStrict: boolean } = { isStrict: false },
): Expression {
  const options = isStrict ? strict : lenient;
  if (!extension.test(text)) return checked({ ...nothing, tests: parseTests(text, options) });
  const { queryCharactersMax, queryTestsMax } = limits;
  if (text.length > queryCharactersMax) {
    throw invalid(`${label} must have at most ${queryCharactersMax} characters`);
  }
  const parts: Parts = { tests: [], silences: [], clear: [], forMs: 0, options };
  let at = 0;
  for (const segment of segmentsOf(text)) {
    readSegment(parts, segment, at);
    at += segment.length + 1;
  }
  if (parts.tests.length + parts.clear.length + parts.silences.length > queryTestsMax) {
    throw invalid(`${label} must have at most ${queryTestsMax} tests`);
  }
  return checked(parts);
}

interface Parts {
  readonly tests: FieldTest[];
  readonly silences: Silence[];
  readonly clear: FieldTest[];
  forMs: number;
  readonly options: ParseOptions;
}

const nothing = { tests: [], silences: [], clear: [], forMs: 0 } as const;

/** The pieces between semicolons that stand outside of quotes. */
function segmentsOf(text: string): readonly string[] {
  const segments: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "'") isQuoted = !isQuoted;
    if (text[at] !== ';' || isQuoted) continue;
    segments.push(text.slice(start, at));
    start = at + 1;
  }
  return [...segments, text.slice(start)];
}

function readSegment(parts: Parts, segment: string, at: number): void {
  const clear = clearStart.exec(segment);
  if (clear !== null) {
    readClear(parts, segment.slice(clear[0].length), at + clear[0].length);
    return;
  }
  let rest = segment;
  const inside = clearInside.exec(rest);
  if (inside?.[1] !== undefined && !isInQuotes(rest, inside.index)) {
    const clearAt = inside.index + 1;
    rest = rest.slice(0, inside.index);
    readSegment(parts, segment.slice(clearAt), at + clearAt);
  }
  rest = readHold(parts, rest, at);
  if (silenceStart.test(rest)) {
    parts.silences.push(readSilence(rest, at));
    return;
  }
  // Blanks in front keep the places that messages point at.
  parts.tests.push(...parseTests(' '.repeat(at) + rest, parts.options));
}

function readClear(parts: Parts, text: string, at: number): void {
  if (parts.clear.length > 0) throw fault(at, 'clear may be written once');
  if (holdEnd.test(text)) throw fault(at, 'for belongs to the condition, in front of clear');
  parts.clear.push(...parseTests(' '.repeat(at) + text, parts.options));
}

function readHold(parts: Parts, text: string, at: number): string {
  const hold = holdEnd.exec(text);
  if (hold?.[1] === undefined || isInQuotes(text, hold.index)) return text;
  if (parts.forMs > 0) {
    throw fault(at + hold.index + 1, 'for may be written once: it is about the whole condition');
  }
  parts.forMs = readDuration(hold[1], at + hold.index + 1);
  return text.slice(0, hold.index);
}

function readSilence(text: string, at: number): Silence {
  const [, name, duration] = silenceWhole.exec(text) ?? [];
  if (name === undefined || duration === undefined) {
    throw fault(at + text.search(/\S/), 'expected silent(sensor, time), as in silent(TC1, 2h)');
  }
  const sensorId = sensorNamed(name);
  return { sensorId, durationMs: readDuration(duration, at + text.lastIndexOf(duration)) };
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function readDuration(text: string, at: number): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const factor = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
  const ms = number === undefined || factor === undefined ? Number.NaN : Number(number) * factor;
  const { expressionDurationMsMin: min, expressionDurationMsMax: max } = limits;
  if (ms >= min && ms <= max) return Math.round(ms);
  throw fault(at, `expected a time of 1s to 366d, such as 90s, 10m, 2h or 1d, got ${text.trim()}`);
}

/** Whether the place lies between quotes. */
const isInQuotes = (text: string, at: number): boolean =>
  (text.slice(0, at).split("'").length - 1) % 2 === 1;

const fault = (at: number, problem: string): DomainError =>
  invalid(`${label} is malformed at character ${at + 1}: ${problem}`);

function checked(parts: Omit<Expression, 'sensors'>): Expression {
  const { tests, silences, clear, forMs } = parts;
  const isEmpty = tests.length + silences.length === 0;
  if (isEmpty && (clear.length > 0 || forMs > 0)) {
    throw invalid(`${label} must have a test in front of for and clear`);
  }
  const names = [...tests, ...clear].map(({ name }) => sensorNamed(name));
  const sensors = [...new Set([...names, ...silences.map(({ sensorId }) => sensorId)])];
  return { tests, silences, clear, forMs, sensors };
}

function sensorNamed(name: string): SensorId {
  try {
    return parseSensorId(name);
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    const shown = JSON.stringify(name.slice(0, 60));
    throw invalid(`${label} names ${shown}, which can be no sensor: ${reason.message}`);
  }
}

/** What is wrong with an expression that an earlier version took; undefined: nothing. */
export function problemOf(text: string): string | undefined {
  try {
    parseExpression(text, { isStrict: true });
    return undefined;
  } catch (reason) {
    if (reason instanceof DomainError) return reason.message;
    throw reason;
  }
}

/**
 * Whether every test and silence holds; true for an empty expression. A sensor that was never heard
 * of is silent since `silentSince`.
 */
export function holds(
  { tests, silences }: Expression,
  view: DeviceView,
  silentSince: Instant,
): boolean {
  for (const test of tests) if (!passes(test, view.value(test.name))) return false;
  for (const { sensorId, durationMs } of silences) {
    if (view.now - (view.seenAt(sensorId) ?? silentSince) < durationMs) return false;
  }
  return true;
}

/** Whether the condition under which it may fire again holds. */
export function isCleared({ clear }: Expression, view: DeviceView): boolean {
  return clear.every((test) => passes(test, view.value(test.name)));
}

/** Whether time alone makes it true, and no push can. */
export function isSilenceOnly({ tests, silences }: Expression): boolean {
  return silences.length > 0 && tests.length === 0;
}
