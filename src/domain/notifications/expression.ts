import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { FieldTest, ParsedCondition } from '../devices/field-test.ts';
import { comparesNumbers, hasNumber, passes } from '../devices/query-evaluation.ts';
import { type ParseOptions, parseCondition } from '../devices/query-parser.ts';
import { DomainError, invalid, refusalOf } from '../errors.ts';
import { parseSensorId, type SensorId } from '../ids.ts';

/** A parsed expression; all tests and silences must hold. */
export interface Expression extends Omit<ParsedCondition, 'silences'> {
  /** `silent(TC1, 2h)`: no datapoint of the sensor for that long. */
  readonly silences: readonly { readonly sensorId: SensorId; readonly durationMs: number }[];
  /** Every sensor that it names, each once. */
  readonly sensors: readonly SensorId[];
}

/** Known values of a device's sensors at one moment. */
export interface DeviceView {
  readonly now: Instant;
  value(sensorId: string, maxAgeMs?: number): JsonValue | undefined;
  /** The last value of the sensor that is a number, or has one. */
  number(sensorId: string, maxAgeMs?: number): JsonValue | undefined;
  /** When the sensor sent last. */
  seenAt(sensorId: string): Instant | undefined;
  /** Since when the service receives what comes; absent: always. */
  readonly listensSince?: Instant;
}

const label = 'expression';
const lenient: ParseOptions = { label, isField: () => false };
const strict: ParseOptions = { ...lenient, isStrict: true };

/**
 * Reads an expression: a condition over sensor ids [contract 7]. Throws invalid that points at the
 * spot; with `isStrict`, as new ones are read, also for what is well-formed and means nothing.
 */
export function parseExpression(
  text: string,
  { isStrict }: { readonly isStrict: boolean } = { isStrict: false },
): Expression {
  const parsed = parseCondition(text, isStrict ? strict : lenient);
  const { tests, clear, forMs } = parsed;
  const silences = parsed.silences.map(({ name, durationMs }) => ({
    sensorId: sensorNamed(name),
    durationMs,
  }));
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

/** How lists of numbers in an expression are read: `T == 8,5` is no decimal comma. */
export function listsIn(text: string): string | undefined {
  if (!text.includes(',')) return undefined;
  try {
    const { tests, clear } = parseExpression(text);
    const notes = [...tests, ...clear].flatMap((test) => {
      if (!('anyOf' in test) || test.anyOf.length < 2) return [];
      const numbers = test.anyOf.flatMap((one) => ('text' in one ? [one.text] : []));
      if (numbers.length < test.anyOf.length || !comparesNumbers(test)) return [];
      const { name, operator } = test;
      const verb = operator === '==' ? 'holds at each of' : 'holds at none of';
      return [`${name} ${operator} ${numbers.join(',')} ${verb} ${numbers.join(' and ')}`];
    });
    if (notes.length === 0) return undefined;
    return `${notes.join('; ')}: a comma lists values, a decimal point is a full stop`;
  } catch (reason) {
    if (reason instanceof DomainError) return undefined;
    throw reason;
  }
}

/** Finds the problem in an expression that an earlier version took; undefined: none. */
export const problemOf = (text: string): string | undefined =>
  refusalOf(() => parseExpression(text, { isStrict: true }))?.message;

/**
 * Whether every test and silence holds; true for an empty expression. A sensor that was never heard
 * of is silent since `silentSince`.
 */
export const holds = (expression: Expression, view: DeviceView, silentSince: Instant): boolean =>
  expression.tests.every((test) => passesOn(view, test)) &&
  silentFrom(expression, view, silentSince) <= view.now;

/** Since when all silences hold, or from when on they will; always where there are none. */
export function silentFrom(
  { silences }: Expression,
  view: DeviceView,
  silentSince: Instant,
): Instant {
  const { listensSince = Number.NEGATIVE_INFINITY } = view;
  return silences.reduce((latest, { sensorId, durationMs }) => {
    const since = Math.max(view.seenAt(sensorId) ?? silentSince, listensSince);
    return Math.max(latest, since + durationMs);
  }, Number.NEGATIVE_INFINITY);
}

/** Whether the condition under which it may fire again holds. */
export function isCleared({ clear }: Expression, view: DeviceView): boolean {
  return clear.every((test) => passesOn(view, test));
}

/** Numbers are compared with the last number of the sensor: what is none is passed over. */
const passesOn = (view: DeviceView, test: FieldTest): boolean =>
  passes(test, comparesNumbers(test) ? view.number(test.name) : view.value(test.name));

/**
 * Whether a value that was pushed says nothing to the expression: it is no number, numbers of its
 * sensor are compared, and every other test of the sensor passes.
 */
export function isPassedOver(
  { tests, clear }: Expression,
  sensorId: string,
  value: JsonValue,
): boolean {
  const own = [...tests, ...clear].filter(({ name }) => name === sensorId);
  if (!own.some(comparesNumbers) || hasNumber(value)) return false;
  return tests.every(
    (test) => test.name !== sensorId || comparesNumbers(test) || passes(test, value),
  );
}

/** Whether time alone makes it true, and no push can. */
export function isSilenceOnly({ tests, silences }: Expression): boolean {
  return silences.length > 0 && tests.length === 0;
}
