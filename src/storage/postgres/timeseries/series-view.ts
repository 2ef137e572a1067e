import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import { DamagedBytesError } from '../../chunks/bytes.ts';
import type { ChunkHead } from '../../chunks/chunk.ts';
import type { ChunkSource } from '../../chunks/chunk-source.ts';
import type { SqlSession } from '../../sql/session.ts';
import { unavailable } from '../failures.ts';
import { type ChunkCache, type Missing, MissingError } from './chunk-cache.ts';
import type { HotLimits } from './hot-limits.ts';
import type { LoadedRange, PartsLoading, SeriesParts } from './series-parts.ts';

/** The data that reads of a sensor are made from, as one commit left it. */
export interface SeriesView extends Omit<SeriesParts, 'bucket' | 'heads'> {
  readonly chunks: ChunkSource;
}

const range = 'bucket = $1 and series = $2 and min_time >= $3 and min_time <= $4';
const selectBytes = (part: Missing['what']): string => `
  select id, ${part} as bytes from chunks where ${range} and id = any($5::bigint[])`;
const selections = { points: selectBytes('points'), summary: selectBytes('summary') };

/** Another process may write chunks anew all the time: so many attempts find them all once. */
const attemptsMax = 20;

/** The range to read. */
export interface Viewed extends LoadedRange {
  /** Parts of the range, or of more, that were loaded in the same commit already. */
  readonly parts?: SeriesParts | undefined;
}

/** Reads a sensor in a session; what the attempt needs of chunks is fetched when it asks for it. */
export type ViewSeries = <Result>(
  session: SqlSession,
  sensor: SensorRef,
  viewed: Viewed,
  look: (view: SeriesView) => Promise<Result>,
) => Promise<Result | undefined>;

/**
 * A read attempt is plain code, the same as that of the embedded engine. Where it
 * lacks a chunk it is abandoned, the chunk and its neighbours are fetched, and it begins anew:
 * chunks never change, so all that it saw holds. Answers undefined when there is no such sensor.
 */
export function createViewSeries(options: {
  readonly cache: ChunkCache;
  readonly limits: HotLimits;
  readonly loadParts: PartsLoading['loadParts'];
}): ViewSeries {
  const { cache, limits, loadParts } = options;

  /** Whether all of it was still there. */
  async function fetch(
    session: SqlSession,
    loaded: SeriesParts,
    missing: Missing,
  ): Promise<boolean> {
    const { bucket, series, heads } = loaded;
    const max = missing.what === 'summary' ? limits.summariesPerFetch : limits.chunksPerFetch;
    const wanted = neighbours(heads, missing, max);
    const times = wanted.map(({ minTime }) => minTime);
    const rows = await session.all<{ readonly id: number; readonly bytes: Uint8Array | null }>(
      selections[missing.what],
      ...[bucket, series, Math.min(...times), Math.max(...times)],
      wanted.map(({ id }) => id),
    );
    const found = new Map(rows.map(({ id, bytes }) => [id, bytes ?? undefined]));
    for (const chunk of wanted) if (found.has(chunk.id)) missing.put(chunk, found.get(chunk.id));
    return found.has(missing.chunk);
  }

  return async (session, sensor, viewed, look) => {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const isFirst = attempt === 0;
      const loaded = (isFirst && viewed.parts) || (await loadParts(session, sensor, viewed));
      if (loaded === undefined) return undefined;
      const source = cache.sourceOf(loaded.heads);
      for (let isWhole = true; isWhole; ) {
        try {
          return await look({ ...loaded, chunks: source });
        } catch (error) {
          if (!(error instanceof MissingError)) throw readable(error);
          isWhole = await fetch(session, loaded, error.missing);
        }
      }
    }
    throw unavailable('the datapoints are being put in order: try again in a moment');
  };
}

const readable = (error: unknown): unknown =>
  error instanceof DamagedBytesError
    ? unavailable('a part of the datapoints is damaged', error)
    : error;

/** The chunk that is missing, and those that the attempt comes to next. */
function neighbours(heads: readonly ChunkHead[], missing: Missing, max: number) {
  const at = heads.findIndex(({ id }) => id === missing.chunk);
  const ahead =
    missing.order === 'asc'
      ? heads.slice(at, at + max)
      : heads.slice(Math.max(0, at + 1 - max), at + 1);
  return ahead.filter(({ id }) => id === missing.chunk || !missing.has(id));
}
