import type { Instant } from '../../lib/clock.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { Device, Sensor } from '../devices/device.ts';
import { type NotificationId, type SensorId, sameUsername } from '../ids.ts';
import type { Firing } from './delivery.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import { createNote, type Evaluations, type Note } from './evaluations.ts';
import type { PlannedFiring } from './fire.ts';
import { type FiringParts, firingAt, mayFire } from './firing.ts';
import type { StoredState } from './notification-store.ts';
import type { Rule } from './rule.ts';
import { type SeenValues, seenOf, viewOf } from './sensor-values.ts';
import type { Silences, Silent } from './silences.ts';
import type { StateBook } from './state-book.ts';
import {
  evaluateAgainAt,
  freshState,
  hadItsTurn,
  type Reading,
  type RuleState,
  type Step,
  step,
} from './step.ts';

export interface EvaluationParts extends FiringParts {
  readonly states: StateBook;
  readonly evaluations: Evaluations;
  readonly silences: () => Silences;
}

/** The parts that an evaluation needs. */
interface OnceParts {
  readonly silences: () => Pick<Silences, 'lookAgain' | 'listensSince'>;
  readonly states: Pick<StateBook, 'peek' | 'set'>;
  readonly evaluations: Pick<Evaluations, 'note'>;
}

/** A push, with the inputs of its evaluation. */
export interface PushEvaluation {
  readonly push: Pick<StoredPush, 'evaluationId'>;
  readonly device: Device;
  readonly sensor: Sensor;
  /** In order of creation. */
  readonly rules: readonly Rule[];
  /** Of the other sensors; undefined: no rule asks for them. */
  readonly values: SeenValues | undefined;
  /** Of each rule, how many datapoints were processed before the service was started anew. */
  readonly had: readonly number[];
}

/** An evaluation at which the rule fires, if its owner has the rights. */
export interface FiringEvaluation extends RuleEvaluation {
  readonly state: RuleState;
}

/** Evaluates all rules at one datapoint of the push, at once. */
export function evaluateDatapoint(
  parts: OnceParts,
  { push: { evaluationId }, device, sensor, rules, values, had }: PushEvaluation,
  datapoint: Datapoint,
  { place, isHistory }: { readonly place: number; readonly isHistory: boolean },
): readonly FiringEvaluation[] {
  const seen = seenOf(sensor, datapoint);
  const { value, at: now, ageMs } = seen;
  if (isHistory) values?.heard(sensor.id, now);
  else values?.set(sensor.id, seen);
  const reading: Reading = {
    ...{ now, sensorId: sensor.id, datapoint, time: orderTime(datapoint) },
    ...viewOf((sensorId) => (sensorId === sensor.id ? seen : values?.get(sensorId))),
  };
  const about = { at: now, deviceId: device.id, sensorId: sensor.id, value };
  const note = createNote(parts.evaluations, about);
  let firing = none;
  for (const [index, rule] of rules.entries()) {
    if (place < (had[index] ?? 0)) continue;
    if (isHistory || ageMs > rule.maxAgeMs) {
      note(rule.notification.id, 'late');
      continue;
    }
    const evaluation = { rule, device, reading, note, evaluationId };
    const { firing: found } = evaluateOnce(parts, evaluation);
    if (found !== undefined) firing = [...firing, { ...evaluation, ...found }];
  }
  return firing;
}

const none: readonly FiringEvaluation[] = [];

/** An evaluation of one rule. */
export interface RuleEvaluation {
  readonly rule: Rule;
  readonly device: Device;
  readonly reading: Reading;
  readonly note: Note;
  /** As it was filed. */
  readonly evaluationId?: string | undefined;
}

/** Makes the reading of a device at a moment that no push calls for. */
export function readingAt(
  values: SeenValues,
  at: Instant,
  about: { readonly sensorId: SensorId; readonly silentSince?: Instant },
): Reading {
  return {
    ...about,
    now: at,
    time: at,
    ...viewOf((sensorId) => values.get(sensorId)),
  };
}

/** A sensor, and the last values of its device, when time or a client calls for an evaluation. */
interface Moment {
  readonly device: Device;
  readonly sensorId: SensorId;
  readonly values: SeenValues;
  readonly at: Instant;
}

/** The evaluation of a sensor's last value; undefined: it has none. */
export function lastValueEvaluation(
  { evaluations }: EvaluationParts,
  rule: Rule,
  { device, sensorId, values, at }: Moment,
): RuleEvaluation | undefined {
  const seen = values.get(sensorId);
  if (seen === undefined) return undefined;
  const about = { at, deviceId: device.id, sensorId, value: seen.value };
  const reading = readingAt(values, at, { sensorId });
  return { rule, device, reading, note: createNote(evaluations, about) };
}

/** The evaluation of a silence; undefined: the sensor has sent since. */
export function silenceEvaluation(
  { evaluations, silences }: EvaluationParts,
  { rule, seenAt }: Silent,
  { device, sensorId, values, at }: Moment,
): RuleEvaluation | undefined {
  const heardAt = values.get(sensorId)?.at ?? seenAt;
  // Another process took a datapoint in meanwhile.
  if (heardAt > seenAt) {
    silences().seen(device.id, sensorId, heardAt);
    return undefined;
  }
  const note = createNote(evaluations, { at, deviceId: device.id, sensorId });
  const reading = readingAt(values, at, { sensorId, silentSince: seenAt });
  return { rule, device, reading, note };
}

/** A sensor, and the rules on it. */
export type Watched = Pick<PushEvaluation, 'device' | 'sensor' | 'rules'>;

/** Whether the rule asks for nothing but what the sensor is pushed, and waits for no silence. */
const isOfSensorAlone = ({ expression }: Rule, sensorId: SensorId): boolean =>
  expression.silences.length === 0 && expression.sensors.every((named) => named === sensorId);

const isForgetful = ({ expression: { clear, forMs } }: Rule): boolean => clear.length + forMs === 0;

/**
 * Whether `remembered` of these rules says all that an evaluation of the sensor's pushes needs. Of
 * others than the device's owner a firing may be stored, and remembered, later.
 */
export const isOfStates = ({ device, sensor: { id }, rules }: Watched): boolean =>
  rules.every((rule) => {
    const isOwn = sameUsername(rule.notification.owner, device.owner);
    const remembersIt = isOwn && rule.triggers.every((trigger) => trigger === id);
    return isOfSensorAlone(rule, id) && (isForgetful(rule) || remembersIt);
  });

/**
 * Whether datapoints of one sensor, none of them older than what it had, let no rule fire and
 * change nothing that one remembers; outcomes are noted in `evaluations`. Without `remembered`
 * only of rules that remember nothing: that may be asked in any order, and at any process.
 */
export function isCalm(
  evaluations: Pick<Evaluations, 'note'>,
  evaluated: Watched,
  datapoints: readonly Datapoint[],
  remembered?: ReadonlyMap<NotificationId, StoredState>,
): boolean {
  const { rules, sensor } = evaluated;
  if (datapoints.length * rules.length > evaluationLimits.calmEvaluationsMax) return false;
  const isJudged =
    remembered === undefined
      ? rules.every((rule) => isOfSensorAlone(rule, sensor.id) && isForgetful(rule))
      : isOfStates(evaluated) && rules.every(({ notification }) => remembered.has(notification.id));
  if (!isJudged) return false;
  let isChanged = false;
  const parts = {
    evaluations,
    states: {
      peek: (rule: NotificationId) => ruleStateOf(remembered?.get(rule)),
      set: () => {
        isChanged = true;
      },
    },
    silences: () => noSilences,
  };
  const push = { ...evaluated, push: {}, values: undefined, had: [] };
  return inOrderOfTime(datapoints).every((datapoint) => {
    const at = { place: 0, isHistory: false };
    return evaluateDatapoint(parts, push, datapoint, at).length === 0 && !isChanged;
  });
}

function ruleStateOf({ state, lastFiredAt }: Partial<StoredState> = {}): RuleState {
  const { device } = state === undefined ? freshState : { device: state };
  return lastFiredAt === undefined ? { device } : { device, lastFiredAt };
}

const noSilences = { lookAgain: () => undefined, listensSince: () => 0 };

/** Evaluates a rule, and takes what it remembers from now on. */
export function evaluateOnce(
  { states, silences }: Omit<OnceParts, 'evaluations'>,
  { rule, device, reading, note }: RuleEvaluation,
): Step {
  const { id } = rule.notification;
  const before = states.peek(id, device.id);
  const { silences: waited } = rule.expression;
  const heard =
    waited.length === 0 ? reading : { ...reading, listensSince: silences().listensSince() };
  const result = step(rule, before, heard);
  const { state, outcome, firing } = result;
  if (state !== before) states.set(id, device.id, state.device);
  // A datapoint that came late may show that the condition has held for longer.
  const nextAt = state === before ? undefined : evaluateAgainAt(rule, result);
  if (nextAt !== undefined) silences().lookAgain(rule, device.id, nextAt);
  if (firing === undefined && outcome !== 'skipped') note(id, outcome);
  return result;
}

/** Makes the firing, on its way to the store from now on; undefined: its owner has no right. */
export async function planFiring(
  parts: EvaluationParts,
  evaluation: FiringEvaluation,
): Promise<PlannedFiring | undefined> {
  const { rule, device, note } = evaluation;
  if (await mayFire(parts, rule, device)) return proposeFiring(parts, evaluation);
  note(rule.notification.id, 'no_right');
  return undefined;
}

/** Makes the firing without a check of its owner's rights: the caller has to ask for them. */
export function proposeFiring(
  parts: Pick<EvaluationParts, 'states' | 'channels'>,
  { rule, device, reading, note, state, evaluationId }: FiringEvaluation,
  more: Pick<Firing, 'evaluation'> = {},
): PlannedFiring {
  const { id } = rule.notification;
  const firing = firingAt(rule, device, reading, { state, channels: parts.channels });
  const proposal = parts.states.propose(id, device.id, state);
  const filed = evaluationId === undefined ? firing : { ...firing, ...more, evaluationId };
  return { rule, firing: filed, proposal, evaluation: note(id, 'sent') };
}

/** How many datapoints of a push, in order of time, went into the state before the start. */
export function countHad(
  states: StateBook,
  { notification }: Rule,
  { deviceId, sensorId, datapoints }: StoredPush,
): number {
  const { device } = states.peek(notification.id, deviceId);
  const last = inOrderOfTime(datapoints).findLastIndex(
    (datapoint) =>
      datapoint.receivedAt <= notification.modifiedAt || hadItsTurn(device, sensorId, datapoint),
  );
  return last + 1;
}

/** The datapoints of one push in the order of their times. */
export function inOrderOfTime(datapoints: readonly Datapoint[]): readonly Datapoint[] {
  const isInOrder = datapoints.every((datapoint, at) => {
    const former = datapoints[at - 1];
    return former === undefined || orderTime(former) <= orderTime(datapoint);
  });
  return isInOrder ? datapoints : datapoints.toSorted((a, b) => orderTime(a) - orderTime(b));
}
