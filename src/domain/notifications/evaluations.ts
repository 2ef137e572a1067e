import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';

/** What an evaluation came to, in the words of the API. */
export const evaluationOutcomes = {
  sent: 'The condition held, and the action was done.',
  false: 'The condition did not hold.',
  waiting: 'The condition holds, but not yet as long as `for` asks for.',
  raised: 'It fired before, and `clear` does not hold yet.',
  cleared: '`clear` holds: it may fire again from now on.',
  throttled: 'The condition held too soon after the last sending.',
  expired: 'The notification has expired.',
  inactive: 'The notification is inactive.',
  not_watched: 'Too many silences are waited for: this one is not until the next start or change.',
  no_right: 'Its owner may not view the data of the device, or not set the actuator.',
  not_stored: 'The condition held, and the service could not store the firing yet.',
} as const;
export type EvaluationOutcome = keyof typeof evaluationOutcomes;

/** One look at a condition. */
export interface Evaluation {
  readonly at: Instant;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** Absent: time called for it, not a push. */
  readonly value?: JsonValue;
  outcome: EvaluationOutcome;
}

/** The last evaluations of one rule, in memory: a ring. */
export interface EvaluationRing {
  readonly kept: Evaluation[];
  next: number;
}

/** Keeps an evaluation, in the place of the oldest when there are many. */
export function noteEvaluation(
  { evaluations: ring }: { readonly evaluations: EvaluationRing },
  evaluation: Evaluation,
): Evaluation {
  ring.kept[ring.next] = evaluation;
  ring.next = (ring.next + 1) % limits.evaluationsMax;
  return evaluation;
}

/** Newest first. */
export function evaluationsOf({ kept, next }: EvaluationRing): readonly Evaluation[] {
  return [...kept.slice(next), ...kept.slice(0, next)].reverse();
}
