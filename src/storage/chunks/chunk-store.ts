import { DamagedBytesError } from './bytes.ts';
import { type Block, blocksOf, type ChunkHead, columnsOf, encodeChunk } from './chunk.ts';
import { type Answered, answerOf, type EngineWork } from './engine-work.ts';
import { blockSummaries, decodeSummary, encodeSummary, summarise } from './summary.ts';

/** The limits of a chunk and its blocks. */
export interface ChunkLimits {
  readonly chunkBlocksMax: number;
  readonly chunkRowBytesMax: number;
  readonly chunkDatapointsMax: number;
  readonly chunkWeightMax: number;
  readonly summaryDatapointsMin: number;
}

/** The columns of a chunk that are known without reading its datapoints. */
export interface ChunkRow extends ChunkHead {
  readonly bytes: number;
}

/** The bytes of a chunk. */
export interface ChunkBytes {
  readonly points: Uint8Array;
  readonly summary?: Uint8Array | null;
}

/** A chunk that is to be written; without a summary where none is due. */
export interface NewChunk extends Omit<ChunkHead, 'id'> {
  readonly points: Uint8Array;
  readonly summary: Uint8Array | undefined;
}

/** The chunks of one series inside a commit. Chunks are in the order of their times and ids. */
export interface ChunkStore {
  readonly limits: ChunkLimits;
  /** The last chunk that begins at this time or before it, and the time of the next one. */
  around(time: number): Answered<{
    readonly before: ChunkRow | undefined;
    /** When the first chunk after this time begins; Infinity: there is none. */
    readonly nextTime: number;
  }>;
  /** The chunk in front of another one. */
  inFront(chunk: ChunkRow): Answered<ChunkRow | undefined>;
  /** The first two chunks. */
  oldest(): Answered<readonly ChunkRow[]>;
  read(chunk: ChunkRow): Answered<ChunkBytes>;
  /** Removes a chunk; `damaged`: its bytes, which are kept aside. */
  remove(chunk: ChunkRow, damaged?: Uint8Array): void;
  /** Adds a chunk, with an id of the database's own unless one is given. */
  insert(chunk: NewChunk, id?: number): void;
}

/** A chunk that was read, to be replaced. */
export interface TakenChunk {
  readonly blocks: readonly Block[];
  /** Whether the chunk could not be read; then it has no blocks. */
  readonly isDamaged: boolean;
}

/** Reads a chunk of the store. */
export function* takeChunk(
  store: ChunkStore,
  chunk: ChunkRow,
): EngineWork<TakenChunk & ChunkBytes> {
  const bytes = yield* answerOf(store.read(chunk));
  return { ...bytes, ...takenFrom(bytes, chunk.id) };
}

/** The blocks of a chunk, with what is known of them. */
export function takenFrom({ points, summary }: ChunkBytes, id: number): TakenChunk {
  const blocks = unlessDamaged(() => blocksOf(points, `${id}`));
  if (blocks === undefined) return { blocks: [], isDamaged: true };
  return { blocks: summary ? withSummaries(blocks, summary) : blocks, isDamaged: false };
}

/** Blocks with their summaries; a summary that is not theirs is made anew when it is due. */
function withSummaries(blocks: readonly Block[], bytes: Uint8Array): readonly Block[] {
  const summaries = unlessDamaged(() => blockSummaries(decodeSummary(bytes))) ?? [];
  return blocks.map((block, at) => {
    const summary = summaries[at];
    return summary?.count === block.count ? { ...block, summary } : block;
  });
}

/**
 * The chunk of these blocks. Shorter chunks go without a summary: they are rewritten soon, and read
 * as quickly; so do chunks with a block that cannot be read, which their reader is to find out.
 */
export function chunkOf(blocks: readonly Block[], limits: ChunkLimits): NewChunk {
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const isDue = count >= limits.summaryDatapointsMin;
  return {
    minTime: blocks[0]?.minTime ?? 0,
    maxTime: blocks.at(-1)?.maxTime ?? 0,
    count,
    points: encodeChunk(blocks),
    summary: isDue
      ? unlessDamaged(() =>
          encodeSummary(blocks.map((block) => block.summary ?? summarise(columnsOf(block)))),
        )
      : undefined,
  };
}

/** The result of reading stored bytes; undefined where they are damaged. */
export function unlessDamaged<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    return undefined;
  }
}
