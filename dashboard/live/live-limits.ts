/** What the live connection allows itself. */
export const liveLimits = {
  /** Longest packet taken from the service: a value may be large, a page has little memory. */
  packetBytesMax: 1024 * 1024,
  /** Filters in one SUBSCRIBE; more go into a further packet. */
  filtersPerPacketMax: 50,
  /** Devices followed at once; the screens show fewer. */
  devicesMax: 200,
  /** Silence after which the client asks whether anybody is there, told to the service as well. */
  keepAliveSeconds: 45,
  /** How long the service may take to answer CONNECT or PINGREQ. */
  answerMsMax: 10_000,
  /** The pause before the first new attempt; it doubles with each that fails. */
  retryMsMin: 1_000,
  /** A quarter of it more, by chance, is a minute. */
  retryMsMax: 48_000,
  /** Attempts that may fail before the state says offline instead of connecting. */
  attemptsUntilOffline: 2,
  /** How long the connection may be away before values are fetched instead. */
  pollAfterMs: 5_000,
  pollMs: 15_000,
  /** Values that wait for the next frame, for each sensor; the oldest go first. */
  pendingValuesMax: 1_000,
  /** Between two paintings of values that come in. */
  paintMsMin: 100,
  /** A last value that came so long after it was measured may have a newer one beside it. */
  lateMs: 10_000,
  /** Requests for newest values at once. */
  newestAtOnce: 4,
  /** Sensors whose newest value is still to be asked for; of more the value pushed last shows. */
  newestWaitingMax: 400,
  /** Sensors of which it is known what was asked. */
  newestKnownMax: 4_000,
} as const;
