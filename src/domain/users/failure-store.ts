import type { Instant } from '../../lib/clock.ts';

/** Failures counted for a key since its first one. */
export interface KeptFailures {
  readonly key: string;
  /** 0: forgiven. */
  readonly failures: number;
  readonly endsAt: Instant;
}

/** Counters of failures, as they were a moment ago: what they are worth after a restart. */
export interface FailureStore {
  /** Counters kept under this name that have not ended. */
  load(limiter: string, now: Instant): Promise<readonly KeptFailures[]>;
  /**
   * Keeps these instead of what was kept for their keys. What has ended goes, and of more than
   * `limits.loginFailureEntriesMax` under one name those that end first.
   */
  save(limiter: string, counted: readonly KeptFailures[], now: Instant): Promise<void>;
}
