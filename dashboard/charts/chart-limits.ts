/** What a chart allows itself. */
export const chartLimits = {
  /** Pixels of width for each point of a downsampled line; more points than this nobody can see. */
  pixelsPerPoint: 2,
  pointsMin: 120,
  /** Datapoints of all sensors together that are drawn one by one instead of as averages. */
  rawPointsMax: 6_000,
  /** So many of each sensor are drawn one by one on the narrowest phone, too. */
  rawPointsMin: 600,
  /** Points of one sensor while values come in live; the oldest go first. */
  livePointsMax: 20_000,
  /** A pause this many times as long as the usual one between two values is a gap. */
  gapFactor: 3,
  /** Rows of the table; the rest is in the CSV. */
  tableRowsMax: 500,
  /** Stretches of a lane of texts. */
  stepsMax: 400,
  spanMsMin: 10_000,
  spanMsMax: 30 * 365 * 86_400_000,
} as const;
