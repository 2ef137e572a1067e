/** The limits of the service, with their reasons; those of chunks are the embedded engine's. */
export const hotLimits = {
  chunkDatapointsMax: 1_024,
  chunkBlocksMax: 16,
  chunkRowBytesMax: 49_152,
  chunkWeightMax: 16_384,
  summaryDatapointsMin: 256,
  /** Of a row of "hot": a longer push becomes several rows. */
  hotRowDatapointsMax: 4_096,
  /** A sensor that has so many datapoints or rows outside chunks: its reads scan all of them. */
  flushDatapointsMin: 2_048,
  flushRowsMin: 512,
  /** Work of one commit of flushing: pushes wait for it. */
  flushDatapointsPerStep: 16_384,
  /** All outside chunks: a start counts them, and the largest go first. */
  hotDatapointsMax: 2_000_000,
  hotRowsMax: 500_000,
  /** When nothing arrived for so long, what is outside chunks is flushed … */
  restMs: 10_000,
  /** … of sensors that have so many: their last chunk is written anew. */
  restDatapointsMin: 16,
  retryMsMin: 500,
  retryMsMax: 30_000,
  /** Decoded blocks: about 25 KB each. */
  decodedChunksMax: 512,
  /** Chunks as they are stored: up to 64 KB each. */
  chunksInMemoryMax: 128,
  /** Summaries of chunks: about 30 KB each. */
  summariesInMemoryMax: 128,
  /** Chunks of one timestamp that are searched for a repeated datapoint. */
  crowdedChunksMax: 16,
  /** Sensors that one round trip checks for repeats: what it brings is in memory until the next. */
  seriesPerLook: 64,
  /** Chunks and summaries of one round trip to the database, beside the one that is needed. */
  chunksPerFetch: 8,
  summariesPerFetch: 32,
  /** A batch is one statement, and PostgreSQL's values end at a thousand million bytes. */
  batchBytesMax: 268_435_456,
};

/** The limits of how datapoints are kept; tests shrink them to reach every path with few. */
export type HotLimits = Readonly<typeof hotLimits>;
