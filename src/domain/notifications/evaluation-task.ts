import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import type { EndOutcome, Line, WaitingEvaluation } from './evaluation-store.ts';

/** An evaluation that is the next on its device, and its push. */
export interface NextPush {
  readonly look: WaitingEvaluation;
  readonly push: StoredPush;
}

/** A device's queue and rule states when its evaluations are run. */
export interface DeviceEvaluations {
  /** Evaluations that wait behind these. */
  readonly rest: readonly WaitingEvaluation[];
  /** States of rules for the device. */
  readonly remembered: Line['states'];
  /** Receives the outcome of each evaluation, before they end. */
  readonly onMade?: (outcomes: readonly PromiseSettledResult<void>[]) => void;
}

/** Runs evaluations when they are first in the queue. */
export interface EvaluationRunner {
  /** Runs them one after the other, reports the outcome of each, and ends them. */
  makePushes(
    deviceId: DeviceId,
    some: readonly NextPush[],
    turn: DeviceEvaluations,
  ): Promise<EndOutcome>;
  /** Rules on what was pushed, as far as that can be said at once. */
  rulesOn(deviceId: DeviceId, pushes: Iterable<StoredPush>): readonly NotificationId[];
  /** The evaluation with its push as other processes got it; undefined: no push calls for it. */
  inTurnOf(look: WaitingEvaluation): NextPush | undefined;
  /** Runs what other processes left by what is stored of it, and ends it. */
  makeAgain(
    deviceId: DeviceId,
    left: readonly WaitingEvaluation[],
    turn: DeviceEvaluations,
  ): Promise<EndOutcome>;
}

/** An evaluation that no push calls for: runs it, and ends it. */
export type EvaluationTask = (rest: readonly WaitingEvaluation[]) => Promise<EndOutcome>;
