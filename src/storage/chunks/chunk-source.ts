import type { Range } from '../../domain/datapoints/datapoint-store.ts';
import type { BlockHead, ChunkHead } from './chunk-head.ts';
import type { ChunkLookup } from './chunk-lookup.ts';
import type { Columns } from './columns.ts';
import type { ChunkSummary } from './summary.ts';

/** The chunks, as one commit left them: where pages and summaries are read from. */
export interface ChunkSource {
  /** Runs `work` so that all it reads belongs to one commit. */
  inSnapshot<Result>(work: () => Result): Result;
  /** The chunks that touch the range, in the order asked for; read as far as it is walked. */
  heads(series: number, range: Range, order: 'asc' | 'desc'): Iterable<ChunkHead>;
  /** The chunk's blocks in this order; they are not decoded. */
  blocks(chunk: ChunkHead, order: 'asc' | 'desc'): Iterable<BlockHead>;
  columns(head: BlockHead): Columns;
  /** The summary of the chunk's datapoints, if that is known. */
  summary(chunk: ChunkHead): ChunkSummary | undefined;
  /** How many datapoints in chunks the range has. */
  count(series: number, range: Range): number;
  /** For lookups inside one snapshot. */
  createLookup(series: number): ChunkLookup;
}
