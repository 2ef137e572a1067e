import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { passes } from '../devices/query-evaluation.ts';
import { type FieldTest, type ParseOptions, parseCondition } from '../devices/query-parser.ts';
import { DomainError, invalid } from '../errors.ts';
import { parseSensorId, type SensorId } from '../ids.ts';

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
