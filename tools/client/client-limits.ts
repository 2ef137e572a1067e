/** Limits of a request of a command, with units. */
export interface ClientLimits {
  /** A request with its answer. */
  readonly requestMs: number;
  /** Tries of one request. */
  readonly attemptsMax: number;
  /** Tries of a request that is answered 500, which is seldom a matter of time. */
  readonly faultAttemptsMax: number;
  /** Logins for one request, when tokens end sooner than requests are answered. */
  readonly loginsPerRequestMax: number;
  /** The pause before the second try; it doubles with each one up to `pauseMs`. */
  readonly firstPauseMs: number;
  readonly pauseMs: number;
  /** A whole answer that is no stream of datapoints. */
  readonly answerBytesMax: number;
}

/** The pauses between the tries of one request add up to a quarter of a minute. */
export const clientLimits: ClientLimits = {
  requestMs: 60_000,
  attemptsMax: 6,
  faultAttemptsMax: 1,
  loginsPerRequestMax: 1,
  firstPauseMs: 500,
  pauseMs: 30_000,
  answerBytesMax: 64 * 1_048_576,
};
