import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import { weightOfBatch } from '../../../domain/datapoints/weight.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { type StagedPush, stageInSteps, stagePush } from './pending-push.ts';
import { nextSequenceNumber, type Series, type SeriesTable } from './series.ts';

/** A push that goes to disk, with the series it belongs to. */
export interface Staged {
  readonly series: Series;
  readonly weight: number;
  readonly push: LoggedPush;
}

/** Finds out what of a batch is new, and stages it with its series. */
export function createPendingBatch(table: SeriesTable, chunks: ChunkReader) {
  /** Fills `staged` with what goes to disk; what it answers says what becomes of each push. */
  function atOnce(batch: readonly Push[], staged: Staged[]): AppendOutcome[] {
    return batch.map((push): AppendOutcome => {
      const series = table.resolve(push);
      if (series === undefined) return { kind: 'missing' };
      const sequenceNumber = nextSequenceNumber(series);
      return outcomeOf(series, sequenceNumber, stagePush(chunks, series, push.batch), staged);
    });
  }

  /** The same for a batch with a long push: yields between its steps. */
  function* inSteps(batch: readonly Push[], staged: Staged[]): Generator<void, AppendOutcome[]> {
    const outcomes: AppendOutcome[] = [];
    for (const push of batch) {
      const series = table.resolve(push);
      const sequenceNumber = series === undefined ? 0 : nextSequenceNumber(series);
      const found = series && (yield* stageInSteps(chunks, series, push.batch));
      outcomes.push(found ? outcomeOf(series, sequenceNumber, found, staged) : { kind: 'missing' });
    }
    return outcomes;
  }

  return { atOnce, inSteps };
}

/** Adds what is new of a push to `staged`. */
function outcomeOf(
  series: Series,
  sequenceNumber: number,
  { fresh, last }: StagedPush,
  staged: Staged[],
): AppendOutcome {
  if (fresh.count === 0) return { kind: 'stored', fresh };
  const logged = { series: series.number, sequenceNumber, batch: fresh };
  const weight = weightOfBatch(fresh);
  staged.push({ series, weight, push: last === undefined ? logged : { ...logged, last } });
  return { kind: 'stored', fresh, weight };
}
