/** Limits of the endpoints for protocols of others, each with its unit. */
export const endpointLimits = {
  /** An update of a sketch: eight fields of 255 bytes, a status, and what surrounds them. */
  updateBytesMax: 65_536,
  /** A compressed body once it is inflated; Telegraf sends a few megabytes at most. */
  inflatedBytesMax: 64 * 1_048_576,
  /** What a compressed body inflates to before somebody reads it. */
  inflatedPieceBytes: 65_536,
  /** Sensors that one request may make; the first one of a busy host makes hundreds. */
  sensorsMadeMax: 2_000,
  /** Refused lines told in one answer: clients write it into their log as one line. */
  linesToldMax: 5,
} as const;
