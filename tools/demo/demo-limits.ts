/** What one run of the demo may take up, with units. */
export const demoLimits = {
  devicesMax: 1_000,
  /** Steps between two values of a sensor in the past; below it a run would take hours. */
  historyStepsMax: 2_000_000,
  /** Values in one request: half a megabyte of JSON. */
  valuesPerRequestMax: 10_000,
  requestsInParallel: 4,
} as const;
