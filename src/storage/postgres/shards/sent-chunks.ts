import { DomainError } from '../../../domain/errors.ts';
import { unavailable } from '../failures.ts';
import type { SeriesKey } from '../timeseries/series-key.ts';

/** Which bytes of a chunk are wanted. */
export type ChunkPart = 'points' | 'summary';

/** The bytes of a chunk at a shard; those that were not asked for are null. */
export interface SentBytes {
  readonly points: Uint8Array | null;
  readonly summary: Uint8Array | null;
}

/** How bytes are read. */
export interface SentReading {
  readonly parts: readonly ChunkPart[];
  /** Somebody holds up every commit meanwhile: it has to be quick, or fail. */
  readonly isUrgent: boolean;
}

/** Chunks that are in other databases by now. */
export interface SentChunks {
  /** How many of these databases cannot be reached now. */
  awayCount(): number;
  /**
   * The bytes of chunks of one series, by their ids; those that are not there are left out. Throws
   * ShardAwayError.
   */
  read(
    shard: number,
    key: SeriesKey,
    ids: readonly number[],
    how: SentReading,
  ): Promise<ReadonlyMap<number, SentBytes>>;
}

/** A shard cannot be reached: only what needs its chunks fails. */
export class ShardAwayError extends DomainError {
  constructor(cause?: unknown) {
    const sentence = 'a database that has a part of the datapoints cannot be reached';
    const options = { retryAfterSeconds: 5, ...(cause !== undefined && { cause }) };
    super('unavailable', `${sentence}: try again in a moment`, options);
    this.name = 'ShardAwayError';
  }
}

/** A chunk that its shard does not have: a database that lost what it had acknowledged. */
export const lacking = (shard: number, chunk: number): DomainError =>
  unavailable(`shard ${shard} lacks chunk ${chunk}: a part of the datapoints cannot be read`);
