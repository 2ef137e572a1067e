import type { Instant } from '../lib/clock.ts';

/** Counts events of the service: a method per event, each called in one place. */
export interface Reporter {
  /** `route` is the pattern, for instance /api/v2/devices/:device_id, never the path with ids. */
  requestAnswered(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
  /** `code` as in the error's body. */
  requestRefused(code: string): void;
  loginSucceeded(): void;
  loginFailed(): void;
  /** Datapoints made durable by one commit, and how long it took. */
  commitFinished(commit: { readonly datapoints: number; readonly durationMs: number }): void;
  commitFailed(): void;
  /** Datapoints that were stored already. */
  datapointsRepeated(count: number): void;
  /** A try at a delivery: sent, retry or failed. */
  deliveryTried(channel: string, outcome: string): void;
  /** Outcome of a firing: fired, throttled, inactive, gone or not_stored. */
  notificationFired(outcome: string): void;
  /** A stored row cannot be understood; the service goes on without it. */
  rowSetAside(table: string): void;
  /** Chunks written anew in the background since the start, left to check, and unreadable. */
  chunksRenewed(figures: {
    readonly replaced: number;
    readonly left: number;
    readonly unreadable: number;
  }): void;
  /** Deletions of one step of retention, and hours that represent datapoints from now on. */
  retentionStepped(step: {
    readonly datapoints: number;
    readonly hours: number;
    readonly hoursKept: number;
  }): void;
  /** A round of retention over all sensors came to its end, whether anything went or not. */
  retentionRoundEnded(at: Instant): void;
  /** A message from an MQTT client was dropped, or not acknowledged when unavailable. */
  publishRefused(reason: string): void;
  /** An MQTT client was not let in. */
  connectionRefused(reason: string): void;
}

/** A reporter that counts nothing. */
export const silentReporter: Reporter = {
  requestAnswered: () => undefined,
  requestRefused: () => undefined,
  loginSucceeded: () => undefined,
  loginFailed: () => undefined,
  commitFinished: () => undefined,
  commitFailed: () => undefined,
  datapointsRepeated: () => undefined,
  deliveryTried: () => undefined,
  notificationFired: () => undefined,
  rowSetAside: () => undefined,
  chunksRenewed: () => undefined,
  retentionStepped: () => undefined,
  retentionRoundEnded: () => undefined,
  publishRefused: () => undefined,
  connectionRefused: () => undefined,
};
