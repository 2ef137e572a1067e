/** Limits of an import. */
export const importLimits = {
  /** Rows in one request: about half a megabyte of JSON. */
  rowsPerRequest: 5_000,
  /** Refused rows that are shown; the others are counted. */
  refusalsShown: 1_000,
  /** Sensors known to be there; beyond it they are asked for again. */
  sensorsKnown: 100_000,
} as const;
