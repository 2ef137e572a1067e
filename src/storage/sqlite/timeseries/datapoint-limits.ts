import type { ChunkLimits } from '../../chunks/chunk-placing.ts';

/** The limits of how datapoints are kept; tests shrink them to reach every path with few. */
export interface DatapointLimits extends ChunkLimits {
  readonly memtableEntryWeightMax: number;
  readonly memtableWeightMax: number;
  readonly memtableWeightForLong: number;
  readonly memtableWeightRefused: number;
  readonly logWeightMax: number;
  readonly flushWeightPerStep: number;
  readonly flushSeriesPerStep: number;
  readonly trimRowsPerStep: number;
  readonly restMs: number;
  readonly restWeightMin: number;
  readonly restEntryWeightMin: number;
  readonly flushRetryMsMin: number;
  readonly flushRetryMsMax: number;
  readonly decodedChunksMax: number;
  readonly chunksInMemoryMax: number;
  readonly crowdedChunksMax: number;
  readonly seriesMax: number;
  readonly wholeDevicesPerRead: number;
  readonly appendsWaitingMax: number;
  readonly batchBytesMax: number;
  readonly longPushDatapointsMin: number;
  readonly apartPushDatapointsMin: number;
}

/**
 * The limits of the service, with their reasons. A datapoint weighs 1, one with a long value 1 for
 * every 32 characters of it.
 */
export const datapointLimits: DatapointLimits = {
  /** Of a block: enough to compress well, and decoded in a tenth of a ms. */
  chunkDatapointsMax: 1_024,
  /** Blocks of a chunk: so many that its row fills pages. */
  chunkBlocksMax: 16,
  /** Of a chunk: what is written anew at most for a late datapoint. */
  chunkRowBytesMax: 49_152,
  /** Of a block: half a megabyte of long values, rewritten with each late datapoint. */
  chunkWeightMax: 16_384,
  /** A sensor that reached this fills whole chunks. */
  memtableEntryWeightMax: 4_096,
  /** Datapoints of all sensors in memory: about 40 MB. */
  memtableWeightMax: 262_144,
  /** Below it a long push may come: the longest leaves room for what others push meanwhile. */
  memtableWeightForLong: 294_912,
  /** When flushing falls behind (a full disk), pushes are refused beyond this. */
  memtableWeightRefused: 1_048_576,
  /** What the log keeps: a start reads all of it, in less than a second. */
  logWeightMax: 1_048_576,
  /** Work of one step of flushing: commits wait for it, so it ends within a few ms. */
  flushWeightPerStep: 8_192,
  flushSeriesPerStep: 24,
  trimRowsPerStep: 256,
  /** When nothing arrived for so long, what is in memory is flushed: the log is large. */
  restMs: 10_000,
  /** … if it is more than this in all, about 100 KB of log, … */
  restWeightMin: 4_096,
  /** … and this for each sensor: its last chunk is written anew. */
  restEntryWeightMin: 16,
  flushRetryMsMin: 500,
  flushRetryMsMax: 30_000,
  /** Decoded blocks: about 25 KB each. */
  decodedChunksMax: 512,
  /** Chunks as they are stored, some of whose blocks were read: up to 64 KB each. */
  chunksInMemoryMax: 64,
  /** Chunks of one timestamp that are searched for a repeated datapoint: about 1 ms. */
  crowdedChunksMax: 16,
  /** Sensors remembered though all of theirs is in chunks. */
  seriesMax: 100_000,
  /** Devices whose sensors are brought to memory by one read of last values; more are not kept. */
  wholeDevicesPerRead: 16,
  /** Batches that wait for the one in flight; the caller sends one at a time. */
  appendsWaitingMax: 1_000,
  /** One batch is one row, and SQLite ends rows at a thousand million bytes. */
  batchBytesMax: 268_435_456,
  /** A longer push is prepared in steps, with others having their turn in between. */
  longPushDatapointsMin: 4_096,
  /** One that comes alone and is longer still lets the batches of other devices pass. */
  apartPushDatapointsMin: 8_192,
};
