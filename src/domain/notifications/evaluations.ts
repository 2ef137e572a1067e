import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { DeviceId, NotificationId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { shortened } from './sensor-values.ts';

/** Outcomes of an evaluation, in the words of the API. */
export const evaluationOutcomes = {
  sent: 'The condition held, and the action was done.',
  false: 'The condition did not hold.',
  waiting: 'The condition holds, but not yet as long as `for` asks for.',
  raised: 'It fired before, and `clear` does not hold yet.',
  cleared: '`clear` holds: it may fire again from now on.',
  passed_over: 'What came is no number, and the condition compares numbers.',
  late: 'What came is older than the newest of its sensor, or than `max_age` allows.',
  throttled: 'The condition held too soon after the last sending.',
  expired: 'The notification has expired.',
  inactive: 'The notification is inactive.',
  not_watched: 'Too many silences are waited for: this one is not until the next start or change.',
  no_right: 'Its owner may not view the data of the device, or not set the actuator.',
  not_stored: 'The condition held, and the service could not store the firing yet.',
} as const;
export type EvaluationOutcome = keyof typeof evaluationOutcomes;

/** An evaluation of a condition. */
export interface Evaluation {
  readonly at: Instant;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** Absent: time called for it, not a push. */
  readonly value?: JsonValue;
  outcome: EvaluationOutcome;
}

/** No evaluations yet. */
export function createEvaluations() {
  const rings = new Map<NotificationId, { readonly kept: Evaluation[]; next: number }>();
  return {
    /** Begins to keep evaluations of a rule; of other rules nothing is kept. */
    open(id: NotificationId): void {
      if (!rings.has(id)) rings.set(id, { kept: [], next: 0 });
    },
    /** Keeps one, in the place of the rule's oldest when there are many. */
    note(id: NotificationId, evaluation: Evaluation): void {
      const ring = rings.get(id);
      if (ring === undefined) return;
      ring.kept[ring.next] = evaluation;
      ring.next = (ring.next + 1) % limits.evaluationsMax;
    },
    /** Newest first. */
    of(id: NotificationId): readonly Evaluation[] {
      const { kept, next } = rings.get(id) ?? { kept: [], next: 0 };
      return [...kept.slice(next), ...kept.slice(0, next)].reverse();
    },
    forget: (id: NotificationId): void => void rings.delete(id),
  };
}

/** The last evaluations of each rule, in memory. */
export type Evaluations = ReturnType<typeof createEvaluations>;
/** Records the outcomes of rules at the same datapoint. */
export type Note = (id: NotificationId, outcome: EvaluationOutcome) => Evaluation;

/** Gives rules of the same outcome one evaluation, as a thousand of them may have the datapoint. */
export function createNote(
  evaluations: Pick<Evaluations, 'note'>,
  look: Omit<Evaluation, 'outcome'>,
): Note {
  const { value } = look;
  // A rule keeps many of them, and a value may be a file.
  const about =
    value === undefined ? look : { ...look, value: shortened(value, limits.variableCharactersMax) };
  let quiet: Evaluation | undefined;
  return (id, outcome) => {
    // An evaluation recorded as sent may become throttled, so no two rules have it in common.
    const known = outcome !== 'sent' && quiet?.outcome === outcome ? quiet : undefined;
    const evaluation = known ?? { ...about, outcome };
    if (outcome !== 'sent') quiet = evaluation;
    evaluations.note(id, evaluation);
    return evaluation;
  };
}
