import type { Firing } from '../../domain/notifications/delivery.ts';
import type { StateChange } from '../../domain/notifications/notification-store.ts';
import type { ChangeSession, Value } from './session.ts';

/** The steps of notifications that differ by engine. */
export interface NotificationEngine {
  /** Saves states in this commit, each of its own rule and device; waits for none of them. */
  saveStates(session: ChangeSession, changes: readonly StateChange[]): void;
  /** Optional: engines that serve one process leave it out. */
  readonly cluster?: ClusterSteps;
}

/** The steps of one process of several that serve one database. */
export interface ClusterSteps {
  /** The number of this process, kept as `claimed_by` with the deliveries that it tries. */
  readonly member: number;
  /** Whether this process runs the evaluation of a firing: an expression with values from `$2`. */
  readonly isOurs: string;
  isOursValues(firing: Firing): readonly Value[];
  /** Records in this commit that the firing is stored. */
  noteFired(session: ChangeSession, firing: Firing): void;
}
