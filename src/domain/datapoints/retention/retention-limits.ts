/** The limits of retention, each with its unit and its reason. */
export const retentionLimits = {
  /** A hundred years: for longer there is for ever. */
  retentionDaysMax: 36_500,
  /** Sensors whose retention is read at once. */
  retainedSensorsPerPage: 500,
  /** After a start: a machine without a clock of its own has asked for the time by then. */
  retentionStartMs: 600_000,
  /** Between two passes over all sensors, and from a setting to the next one. */
  retentionPassMs: 3_600_000,
  retentionSoonMs: 5_000,
  /** After a pass: so many times as long as it took. */
  retentionRestsPerWork: 4,
  /** Between two steps of a pass: most of the writer's time is left for what arrives. */
  retentionPauseMs: 10,
  /** Pauses in which datapoints have not reached their place; then the next pass takes them. */
  retentionWaitsMax: 200,
} as const;
