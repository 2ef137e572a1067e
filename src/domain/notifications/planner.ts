import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { Device } from '../devices/device.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { type Evaluation, type EvaluationOutcome, noteEvaluation } from './evaluations.ts';
import type { Reading } from './expression.ts';
import { deliveriesOf, type FiringParts, mayFire, type PlannedFiring } from './firings.ts';
import type { DeviceState } from './notification.ts';
import { firedState, freshState, isThrottled, judge, type Rule, withFired } from './rule.ts';

export interface PlannerParts extends FiringParts {
  /** A state changed without a firing. */
  readonly onStateChanged: (rule: Rule, deviceId: DeviceId) => void;
}

/** One look at one rule. */
export interface Look {
  readonly rule: Rule;
  readonly device: Device;
  readonly sensorId: SensorId;
  readonly reading: Reading;
  readonly value?: JsonValue;
  /** What was pushed; absent: time or a client called for the look. */
  readonly datapoint?: Datapoint;
  /** Our clock: windows and expiry go by it. */
  readonly at: Instant;
  /** The device's clock: `for` goes by it. */
  readonly time: Instant;
}

/** Evaluations of one datapoint: rules that came to the same share one. */
export interface Notes {
  add(rule: Rule, outcome: EvaluationOutcome): Evaluation;
}

/** Notes about one datapoint, or one moment. */
export function createNotes(fields: Omit<Evaluation, 'outcome'>): Notes {
  let quiet: Evaluation | undefined;
  return {
    add(rule, outcome) {
      // One that was sent may turn out throttled, so it is never shared.
      if (outcome === 'sent') return noteEvaluation(rule, { ...fields, outcome });
      if (quiet?.outcome !== outcome) quiet = { ...fields, outcome };
      return noteEvaluation(rule, quiet);
    },
  };
}

/** Decides whether one look at a rule makes it fire, and notes what it came to. */
export function createPlanner(
  parts: PlannerParts,
): (look: Look, notes: Notes) => Promise<PlannedFiring | undefined> | undefined {
  const { onStateChanged, channels } = parts;

  async function planFiring(
    look: Look,
    state: DeviceState,
    notes: Notes,
  ): Promise<PlannedFiring | undefined> {
    const { rule, device, sensorId, reading, at } = look;
    if (!(await mayFire(parts, rule, device))) {
      notes.add(rule, 'no_right');
      return undefined;
    }
    const variables = { deviceId: device.id, sensorId, value: reading.value };
    const deliveries = deliveriesOf(rule, variables, { now: at, channels });
    const after = withFired(firedState(rule.expression, state), sensorId, look);
    const before = { state, lastFiredAt: rule.lastFiredAt };
    rule.states.set(device.id, after);
    rule.lastFiredAt = Math.max(rule.lastFiredAt, at);
    const { throttlingMs } = rule;
    const notificationId = rule.notification.id;
    const fields = { notificationId, deviceId: device.id, at, throttlingMs, deliveries };
    return {
      rule,
      before,
      evaluation: notes.add(rule, 'sent'),
      firing: { ...fields, state: after },
    };
  }

  function refusal({ rule, device, reading, at, time }: Look): EvaluationOutcome | DeviceState {
    if (rule.notification.status !== 'active') return 'inactive';
    if (at > rule.expiresAt) return 'expired';
    const state = rule.states.get(device.id) ?? freshState;
    const judged = judge(rule.expression, state, reading, time);
    if (judged.state !== state) {
      rule.states.set(device.id, judged.state);
      onStateChanged(rule, device.id);
    }
    if (judged.verdict !== 'holds') return judged.verdict;
    return isThrottled(rule, at) ? 'throttled' : judged.state;
  }

  return (look, notes) => {
    const outcome = refusal(look);
    if (typeof outcome !== 'string') return planFiring(look, outcome, notes);
    notes.add(look.rule, outcome);
    return undefined;
  };
}
