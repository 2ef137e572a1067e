import type { Instant } from '../../lib/clock.ts';
import { ownEntry } from '../../lib/own-entry.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import { type Payer, payerOfAccount } from '../budgets/payer.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { EvaluationRing } from './evaluations.ts';
import { type Expression, holds, isCleared, parseExpression, type Reading } from './expression.ts';
import { variablesIn } from './message.ts';
import type { DeviceState, Notification } from './notification.ts';

/** A notification made ready for evaluation, with what it remembers. */
export interface Rule {
  readonly notification: Notification;
  readonly expression: Expression;
  /** A push to one of these is looked at [spec 3.1]: the listed sensors and those it names. */
  readonly triggers: readonly SensorId[];
  /** Sensors whose last values it may ask for. */
  readonly named: readonly string[];
  readonly expiresAt: Instant;
  readonly throttlingMs: number;
  readonly states: Map<DeviceId, DeviceState>;
  readonly evaluations: EvaluationRing;
  /** Whose room it takes up: its owner's. */
  readonly payer: Payer;
  lastFiredAt: Instant;
  /** Its place in the order of creation; the index sets it. */
  place: number;
}

const never = Number.NEGATIVE_INFINITY;

/** Compiles a notification. Throws invalid for an expression that is malformed. */
export function createRule(
  notification: Notification,
  known: Partial<Pick<Rule, 'lastFiredAt' | 'states' | 'evaluations' | 'payer'>> = {},
): Rule {
  const { condition, action, expires, throttlingSeconds = 0 } = notification;
  const expression = parseExpression(condition.expression);
  const template = action.kind === 'message' ? action.message : action.value;
  const expiresAt = expires === undefined ? undefined : parseTimestamp(expires);
  return {
    notification,
    expression,
    triggers: [...new Set([...condition.sensors, ...expression.sensors])],
    named: [...new Set<string>([...expression.sensors, ...variablesIn(template)])],
    expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
    throttlingMs: throttlingSeconds * 1_000,
    states: known.states ?? new Map(),
    evaluations: known.evaluations ?? { kept: [], next: 0 },
    payer: known.payer ?? payerOfAccount(notification.owner.toLowerCase()),
    lastFiredAt: known.lastFiredAt ?? never,
    place: 0,
  };
}

const bytesOfRule = 1_024;
/** Beside the id itself: a place in the index, and what the rule remembers of the device. */
const bytesOfDevice = 256;
const bytesOfSensor = 64;

/** What a rule takes up in memory, roughly; it only grows with what its owner wrote. */
export function bytesOf({ notification, triggers, named }: Rule): number {
  const { condition, action, description = '' } = notification;
  const texts = [...condition.devices, ...triggers, ...named, condition.expression, description];
  if (action.kind === 'message') texts.push(...action.usernames, action.message);
  else texts.push(JSON.stringify(action.value));
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const parts = condition.devices.length * bytesOfDevice + triggers.length * bytesOfSensor;
  return bytesOfRule + 2 * characters + parts;
}

/** What an evaluation comes to, the window and the rights aside. */
export type Verdict = 'holds' | 'false' | 'waiting' | 'raised' | 'cleared';

export const freshState: DeviceState = {};

/**
 * Looks at the condition at one moment. `time` is when it was measured, so that what was pushed
 * late counts as if it had come in time. The state is the same object when nothing changed.
 */
export function judge(
  expression: Expression,
  state: DeviceState,
  reading: Reading,
  time: Instant,
): { readonly verdict: Verdict; readonly state: DeviceState } {
  if (state.isRaised === true) {
    if (!isCleared(expression, reading)) return { verdict: 'raised', state };
    const { isRaised: _, holdsSince: __, ...cleared } = state;
    return { verdict: 'cleared', state: cleared };
  }
  if (!holds(expression, reading)) {
    if (state.holdsSince === undefined) return { verdict: 'false', state };
    const { holdsSince: _, ...others } = state;
    return { verdict: 'false', state: others };
  }
  if (expression.forMs === 0) return { verdict: 'holds', state };
  const since = Math.min(state.holdsSince ?? time, time);
  const holding = since === state.holdsSince ? state : { ...state, holdsSince: since };
  return { verdict: time - since < expression.forMs ? 'waiting' : 'holds', state: holding };
}

/** The state after a firing. */
export function firedState(expression: Expression, state: DeviceState): DeviceState {
  return expression.clear.length === 0 ? state : { ...state, isRaised: true };
}

/** Remembers a firing, so that a start after a crash does not repeat it. */
export function withFired(
  state: DeviceState,
  sensorId: SensorId,
  fired: { readonly at: Instant; readonly datapoint?: Datapoint },
): DeviceState {
  const { at, datapoint } = fired;
  const { firedKeys, ...others } = state;
  const isTie = ownEntry(state.firedFor, sensorId) === at;
  const former = isTie ? ownEntry(firedKeys, sensorId) : [];
  const isListed =
    datapoint !== undefined && former !== undefined && former.length < limits.firedKeysMax;
  const { [sensorId]: _, ...elsewhere } = firedKeys ?? {};
  return {
    ...others,
    firedFor: { ...state.firedFor, [sensorId]: at },
    firedKeys: isListed ? { ...elsewhere, [sensorId]: [...former, keyOf(datapoint)] } : elsewhere,
  };
}

/** Whether a datapoint had its turn before the service was started anew. */
export function hasFiredFor(state: DeviceState, sensorId: SensorId, datapoint: Datapoint): boolean {
  const firedFor = ownEntry(state.firedFor, sensorId);
  if (firedFor === undefined || datapoint.receivedAt > firedFor) return false;
  const keys = ownEntry(state.firedKeys, sensorId);
  // Of one millisecond, some may have come in a commit after the one that fired.
  return datapoint.receivedAt < firedFor || keys === undefined || keys.includes(keyOf(datapoint));
}

const keyOf = ({ timestamp, value }: Datapoint): string =>
  `${timestamp ?? ''} ${JSON.stringify(value)}`.slice(0, limits.firedKeyCharactersMax);

/** Whether the window since the last firing is still taken. */
export function isThrottled({ lastFiredAt, throttlingMs }: Rule, at: Instant): boolean {
  return throttlingMs > 0 && at < lastFiredAt + throttlingMs;
}
