/** How much the benchmark of histories stores and asks. */
export const historyLimits = {
  crowdSensors: 100,
  /** A sensor of the crowd sends every ten minutes. */
  crowdStepMs: 600_000,
  stepMs: 60_000,
  yearMs: 365 * 86_400_000,
  /** Half a year of minutes at most for a try, ten years for a long one. */
  daysMax: 3_650,
  pointsPerRequest: 5_000,
  requestsInFlight: 4,
  liveInFlight: 64,
  livePointsMax: 10_000_000,
  rangePoints: 10_000,
  lastPoints: 1_000,
  restSecondsMax: 3_600,
  roundsMax: 1_000,
} as const;
