import type { Instant } from '../../lib/clock.ts';
import { writeJson } from '../../lib/long-json.ts';
import { ownEntry } from '../../lib/own-entry.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { EvaluationOutcome } from './evaluations.ts';
import {
  type DeviceView,
  holds,
  isCleared,
  isPassedOver,
  isSilenceOnly,
  silentFrom,
} from './expression.ts';
import type { DeviceState } from './notification.ts';
import type { Rule } from './rule.ts';
import { beginningOf } from './sensor-values.ts';

/** Known values of a device when a rule is evaluated, and the cause of the evaluation. */
export interface Reading extends DeviceView {
  readonly sensorId: SensorId;
  /** The device's clock: `for` goes by it. Windows, expiry and silences go by ours, `now`. */
  readonly time: Instant;
  /** The datapoint that was pushed; absent: time or a client calls for the evaluation. */
  readonly datapoint?: Datapoint;
  /** The sensor has been silent since then; absent: no silence calls for the evaluation. */
  readonly silentSince?: Instant;
  /** When the newest value of a sensor was measured. */
  measuredAt?(sensorId: string): Instant | undefined;
}

/** The state of a rule when it is evaluated for one device. */
export interface RuleState {
  readonly device: DeviceState;
  /** Of all devices: the window is the rule's. */
  readonly lastFiredAt?: Instant;
}

export const freshState: RuleState = { device: {} };

/** The result of one evaluation. */
export interface Step {
  /** The rule's state unless it fires; the same object when nothing changed. */
  readonly state: RuleState;
  /** skipped: it was no evaluation, as when a datapoint comes and only time could make it true. */
  readonly outcome: EvaluationOutcome | 'skipped';
  /** The rule fires, if its owner has the rights: its state once the firing is stored. */
  readonly firing?: { readonly state: RuleState };
}

/**
 * Evaluates one rule at one reading. Pure: live evaluation, a start after a crash and previews all
 * come here, and differ in where the readings are from and what becomes of the states.
 */
export function step(rule: Rule, state: RuleState, reading: Reading): Step {
  const { expression, notification } = rule;
  const { now, datapoint, silentSince } = reading;
  // A silence is found by the clock; a value only clears it.
  const isByClock = isSilenceOnly(expression) && state.device.isRaised !== true;
  const isTold =
    silentSince !== undefined && isSilenceTold(state.device, reading.sensorId, silentSince);
  const isOver = notification.status !== 'active' || now > rule.expiresAt;
  const isSkipped = (datapoint !== undefined && isByClock) || (isTold && isOver);
  if (isSkipped) return { state, outcome: 'skipped' };
  if (notification.status !== 'active') return { state, outcome: 'inactive' };
  if (now > rule.expiresAt) return { state, outcome: 'expired' };
  const pushed = datapoint === undefined ? undefined : reading.value(reading.sensorId);
  if (pushed !== undefined && isPassedOver(expression, reading.sensorId, pushed)) {
    return { state, outcome: 'passed_over' };
  }
  const { verdict, device: judged } = judge(rule, state.device, youngOf(rule, reading));
  const outcome =
    verdict !== 'holds' ? verdict : isThrottled(rule, state, now) ? 'throttled' : 'sent';
  const next =
    judged === state.device ? state : { ...state, device: withTurns(judged, rule, reading) };
  // The rule fired for this silence: its evaluation may begin a "for", and does nothing else.
  if (isTold) return { state: next, outcome: 'skipped' };
  if (outcome !== 'sent') return { state: next, outcome };
  const told = withTold(judged, rule, reading);
  const raised = expression.clear.length === 0 ? told : { ...told, isRaised: true as const };
  const lastFiredAt = Math.max(state.lastFiredAt ?? now, now);
  const fired = { device: withTurns(raised, rule, reading), lastFiredAt };
  return { state: next, outcome, firing: { state: fired } };
}

/** The reading without what was measured longer before its receipt than the rule allows. */
const youngOf = ({ maxAgeMs }: Rule, reading: Reading): Reading =>
  maxAgeMs === Number.POSITIVE_INFINITY
    ? reading
    : {
        ...reading,
        value: (sensorId) => reading.value(sensorId, maxAgeMs),
        number: (sensorId) => reading.number(sensorId, maxAgeMs),
      };

/** The result of the condition, the window aside. */
type Verdict = 'holds' | 'false' | 'waiting' | 'raised' | 'cleared';

/**
 * Evaluates the condition at one moment. What was pushed late counts as if it had come in time:
 * `for` is measured by the time of the reading.
 */
function judge(
  { expression, notification }: Rule,
  device: DeviceState,
  reading: Reading,
): { readonly verdict: Verdict; readonly device: DeviceState } {
  if (device.isRaised === true) {
    // A silence clears nothing: values do, and what is no number says nothing of the last one.
    const mayClear = reading.silentSince === undefined && isCleared(expression, reading);
    if (!mayClear) return { verdict: 'raised', device };
    const { isRaised: _, holdsSince: __, ...cleared } = device;
    return { verdict: 'cleared', device: cleared };
  }
  // A sensor that never sent anything is silent since the rule was made.
  const { createdAt } = notification;
  if (!holds(expression, reading, createdAt)) {
    if (device.holdsSince === undefined) return { verdict: 'false', device };
    const { holdsSince: _, ...others } = device;
    return { verdict: 'false', device: others };
  }
  if (expression.forMs === 0) return { verdict: 'holds', device };
  const { time } = reading;
  const { holdsSince } = device;
  // A value that came meanwhile ended the silence, and so does a time in which none could come.
  const silent = Math.min(silentFrom(expression, reading, createdAt), time);
  const held = isSilenceOnly(expression) ? silent : Math.min(holdsSince ?? time, time);
  const since = Math.max(held, silent);
  const holding = since === holdsSince ? device : { ...device, holdsSince: since };
  return { verdict: time - since < expression.forMs ? 'waiting' : 'holds', device: holding };
}

/** Whether the window since the last firing is still taken. */
function isThrottled({ throttlingMs }: Rule, { lastFiredAt }: RuleState, now: Instant): boolean {
  return throttlingMs > 0 && lastFiredAt !== undefined && now < lastFiredAt + throttlingMs;
}

/** When time alone may change the outcome of evaluating a silence; undefined: it is reported. */
export function evaluateAgainAt(
  { throttlingMs, expression }: Rule,
  { outcome, state: { device, lastFiredAt } }: Step,
): Instant | undefined {
  if (outcome === 'throttled' && lastFiredAt !== undefined) return lastFiredAt + throttlingMs;
  if (outcome !== 'waiting' || device.holdsSince === undefined) return undefined;
  return device.holdsSince + expression.forMs;
}

/** Remembers all silences that it fired for. */
function withTold(device: DeviceState, { expression, notification }: Rule, reading: Reading) {
  const { silences } = expression;
  if (silences.length === 0) return device;
  const { createdAt } = notification;
  const told = silences.map(({ sensorId }) => [sensorId, reading.seenAt(sensorId) ?? createdAt]);
  return { ...device, silencesTold: { ...device.silencesTold, ...Object.fromEntries(told) } };
}

/** Whether it fired for a silence that began then, with which no `for` of other tests begins. */
export const isSilenceOver = (
  { expression }: Rule,
  device: DeviceState,
  sensorId: SensorId,
  silentSince: Instant,
): boolean =>
  (expression.forMs === 0 || isSilenceOnly(expression)) &&
  isSilenceTold(device, sensorId, silentSince);

/** Whether it fired already for a silence that began then. */
export function isSilenceTold(
  { silencesTold, silenceToldAt }: DeviceState,
  sensorId: SensorId,
  silentSince: Instant,
): boolean {
  const toldAt = ownEntry(silencesTold, sensorId) ?? silenceToldAt;
  return toldAt !== undefined && silentSince <= toldAt;
}

/**
 * Remembers up to which datapoint of each sensor all went into the state, so that a start after a
 * crash processes none twice: a firing is not repeated, and what cleared stays cleared.
 */
function withTurns(device: DeviceState, { triggers }: Rule, reading: Reading): DeviceState {
  const { sensorId: own, datapoint, now } = reading;
  const firedFor = new Map(Object.entries(device.firedFor ?? {}));
  const firedKeys = new Map(Object.entries(device.firedKeys ?? {}));
  for (const sensorId of triggers) {
    const seenAt = reading.seenAt(sensorId);
    if (seenAt === undefined) continue;
    const isTie = firedFor.get(sensorId) === seenAt;
    firedFor.set(sensorId, seenAt);
    if (sensorId === own && datapoint !== undefined) {
      const former = isTie ? firedKeys.get(sensorId) : [];
      const isListed = former !== undefined && former.length < limits.firedKeysMax;
      if (isListed) firedKeys.set(sensorId, [...former, keyOf(datapoint)]);
      else firedKeys.delete(sensorId);
    } else firedKeys.delete(sensorId);
  }
  // A start does not evaluate again what was received long before this datapoint.
  const since = datapoint === undefined ? Number.NEGATIVE_INFINITY : now - limits.catchUpMs;
  const recent = [...firedFor].filter(([, receivedAt]) => receivedAt >= since);
  const keys = recent.flatMap(([sensorId]) => {
    const kept = firedKeys.get(sensorId);
    return kept === undefined ? [] : [[sensorId, kept] as const];
  });
  return {
    ...device,
    firedFor: Object.fromEntries(recent),
    firedKeys: Object.fromEntries(keys),
  };
}

/** Whether a datapoint went into the state before the service was started anew. */
export function hadItsTurn(device: DeviceState, sensorId: SensorId, datapoint: Datapoint): boolean {
  const firedFor = ownEntry(device.firedFor, sensorId);
  if (firedFor === undefined || datapoint.receivedAt > firedFor) return false;
  const keys = ownEntry(device.firedKeys, sensorId);
  // Of one millisecond, some may have come in a commit after the one that changed the state.
  return datapoint.receivedAt < firedFor || keys === undefined || keys.includes(keyOf(datapoint));
}

const keyOf = ({ timestamp, value }: Datapoint): string =>
  beginningOf(`${timestamp ?? ''} ${writeJson(value)}`, limits.firedKeyCharactersMax);
