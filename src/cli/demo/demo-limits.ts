/** What one run of the demo may take up, with units. */
export const demoLimits = {
  devicesMax: 1_000,
  /** Steps between two values of a sensor in the past; below it a run would take hours. */
  historyStepsMax: 2_000_000,
  /** Values in one request: half a megabyte of JSON. */
  valuesPerRequestMax: 10_000,
  requestsInParallel: 4,
  requestMs: 60_000,
  /** Attempts of one request: the waits between them add up to a quarter of a minute. */
  attemptsMax: 6,
  firstRetryMs: 500,
  retryMs: 30_000,
} as const;
