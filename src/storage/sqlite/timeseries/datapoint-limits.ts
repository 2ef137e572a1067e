const kibibyte = 2 ** 10;
const mebibyte = 2 ** 20;

/**
 * The limits of the service, with their reasons. In memory a datapoint takes 32 bytes, and one that
 * is no number its text on top.
 */
export const datapointLimits = {
  /** Of a block: enough to compress well, and decoded in a tenth of a ms. */
  chunkDatapointsMax: 1_024,
  /** Blocks of a chunk: so many that its row fills pages. */
  chunkBlocksMax: 16,
  /** Of a chunk: what is written anew at most for a late datapoint. */
  chunkRowBytesMax: 49_152,
  /** Of a block: half a megabyte of long values, rewritten with each late datapoint. */
  chunkWeightMax: 16_384,
  /** Of a chunk that has a summary: fewer datapoints are read as quickly. */
  summaryDatapointsMin: 256,
  /** Bytes of a sensor that has any datapoint in memory, beside its datapoints. */
  memtableEntryBytes: 192,
  /** A sensor that reached this, 8 192 numbers, fills eight blocks: half a chunk. */
  memtableEntryBytesMax: 256 * kibibyte,
  /** Datapoints of a sensor, 10 numbers, that a start keeps as bytes until somebody asks for it. */
  packedBytesMax: 512,
  /** Datapoints of all sensors in memory: 780 000 of a few sensors, one each of 110 000. */
  memtableBytesMax: 24 * mebibyte,
  /** Below it a long push may come: the longest leaves capacity for other pushes meanwhile. */
  memtableBytesForLong: 26 * mebibyte,
  /** When flushing falls behind (a full disk), pushes are refused beyond this. */
  memtableBytesRefused: 64 * mebibyte,
  /** The log that is kept, counted as in memory: a start reads all of it in less than a second. */
  logBytesMax: 32 * mebibyte,
  /** Work of one step of flushing: commits wait for it, so it ends within a few ms. */
  flushBytesPerStep: 256 * kibibyte,
  flushSeriesPerStep: 24,
  trimRowsPerStep: 256,
  /** Full sensors wait until nothing arrived for so long: commits wait for a step of flushing. */
  calmMs: 20,
  /** When nothing arrived for so long, what is in memory is flushed: the log is large. */
  restMs: 10_000,
  /** … if it, or what the log keeps for it, is more than this in all, … */
  restBytesMin: 128 * kibibyte,
  /** … and this, 16 numbers, for each sensor: its last chunk is written anew. */
  restEntryBytesMin: 704,
  flushRetryMsMin: 500,
  flushRetryMsMax: 30_000,
  /** Decoded blocks: about 25 KB each. */
  decodedChunksMax: 512,
  /** Chunks as they are stored, some of whose blocks were read: up to 64 KB each. */
  chunksInMemoryMax: 64,
  /** Summaries of chunks, up to 30 KB each: ten weeks of minutes of a hundred sensors. */
  summaryBytesMax: 20 * mebibyte,
  summariesInMemoryMax: 4_096,
  /** Chunks of one timestamp that are searched for a repeated datapoint: about 1 ms. */
  crowdedChunksMax: 16,
  /** Sensors remembered though all of theirs is in chunks. */
  seriesMax: 100_000,
  /** Devices whose sensors are brought to memory by one read of last values; more are not kept. */
  wholeDevicesPerRead: 32,
  /** Batches that wait for the one in flight; the caller sends one at a time. */
  appendsWaitingMax: 1_000,
  /** A batch is one row, and SQLite ends rows at a thousand million bytes. */
  batchBytesMax: 268_435_456,
  /** A longer push is prepared in steps, with other work in between. */
  longPushDatapointsMin: 4_096,
  /** A push that comes alone and is longer still lets the batches of other devices pass. */
  apartPushDatapointsMin: 8_192,
};

/** The limits of how datapoints are kept; tests shrink them to reach every path with few. */
export type DatapointLimits = Readonly<typeof datapointLimits>;
