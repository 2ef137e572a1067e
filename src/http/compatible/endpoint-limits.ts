/** Limits of the endpoints for protocols of others, each with its unit. */
export const endpointLimits = {
  /** An update of a sketch: eight fields of 255 bytes, a status, and what surrounds them. */
  updateBytesMax: 65_536,
  /** Many updates of a channel in one body: some ten thousand. */
  bulkUpdateBytesMax: 1_048_576,
  /** Fields of updates that go to the ingest path together. */
  updateLinesPerStep: 1_024,
  /** Entries of a feed in one answer, as ThingSpeak has it. */
  feedEntriesMax: 8_000,
  /** Sensors that one request may make; the first one of a busy host makes hundreds. */
  sensorsMadeMax: 2_000,
  /** A body that is stored whole or not at all: it is kept until all of its lines are read. */
  wholeWriteBytesMax: 1_048_576,
  /** Statements of one query of InfluxDB. */
  statementsMax: 100,
  /** Refused lines named in one answer: clients write it into their log as one line. */
  linesToldMax: 5,
} as const;
