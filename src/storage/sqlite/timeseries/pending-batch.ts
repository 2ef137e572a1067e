import { emptyBatch, weightOfBatch } from '../../../domain/datapoints/column-batch.ts';
import type { AppendOutcome, Push } from '../../../domain/datapoints/datapoint-store.ts';
import type { ReceivedId } from '../../../domain/publish-context.ts';
import type { LoggedPush } from '../../chunks/datapoint-log.ts';
import type { ChunkReader } from './chunk-reader.ts';
import {
  datapointsPerStep,
  isShort,
  type StagedPush,
  stageLong,
  stageShort,
} from './pending-push.ts';
import { nextSequenceNumber, type Series, type SeriesTable } from './series.ts';

/** A push that goes to disk, with the series it belongs to. */
export interface Staged {
  readonly series: Series;
  readonly weight: number;
  readonly push: LoggedPush;
}

/** The part of a batch that goes to disk. */
export interface Staging {
  readonly pushes: Staged[];
  /** Ids of its MQTT messages; undefined: it has none. */
  received: ReceivedId[] | undefined;
}

/** Finds out what of a batch is new, and stages it with its series. */
export function createPendingBatch(
  table: SeriesTable,
  chunks: ChunkReader,
  isKept: (id: ReceivedId) => boolean,
) {
  const isStored = ({ publishContext }: Push): boolean =>
    publishContext?.receivedAs !== undefined && isKept(publishContext.receivedAs);

  /** Stages a push that is not long, as nearly all are; undefined: it is long. */
  function stageAtOnce(push: Push, staging: Staging): AppendOutcome | undefined {
    const series = table.resolve(push);
    if (series === undefined) return { kind: 'missing' };
    if (isStored(push)) return { kind: 'stored', fresh: emptyBatch };
    if (!isShort(series, push.batch)) return undefined;
    const sequenceNumber = nextSequenceNumber(series);
    const found = stageShort(chunks, series, push.batch);
    return outcomeOf({ series, sequenceNumber, push }, found, staging);
  }

  function* stageInSteps(push: Push, staging: Staging): Generator<void, AppendOutcome> {
    const series = table.resolve(push);
    if (series === undefined) return { kind: 'missing' };
    const sequenceNumber = nextSequenceNumber(series);
    const found = yield* stageLong(chunks, series, push.batch);
    return outcomeOf({ series, sequenceNumber, push }, found, staging);
  }

  /**
   * Fills `staging` with what goes to disk, and yields between the steps of a long push and after
   * some pushes; the answer says what becomes of each push.
   */
  return function* stage(
    batch: readonly Push[],
    staging: Staging,
  ): Generator<void, AppendOutcome[]> {
    const outcomes: AppendOutcome[] = [];
    let staged = 0;
    for (const push of batch) {
      if (staged > datapointsPerStep) {
        yield;
        staged = 0;
      }
      staged += push.batch.count;
      outcomes.push(stageAtOnce(push, staging) ?? (yield* stageInSteps(push, staging)));
    }
    return outcomes;
  };
}

/** Adds what is new of a push to `staging`. */
function outcomeOf(
  place: { readonly series: Series; readonly sequenceNumber: number; readonly push: Push },
  { fresh, last }: StagedPush,
  staging: Staging,
): AppendOutcome {
  if (fresh.count === 0) return { kind: 'stored', fresh };
  const { series, sequenceNumber } = place;
  const logged = { series: series.number, sequenceNumber, batch: fresh };
  const weight = weightOfBatch(fresh);
  const push = last === undefined ? logged : { ...logged, last };
  staging.pushes.push({ series, weight, push });
  const receivedAs = place.push.publishContext?.receivedAs;
  if (receivedAs !== undefined) {
    staging.received ??= [];
    staging.received.push(receivedAs);
  }
  return { kind: 'stored', fresh, weight };
}
