import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import { toDatapointColumns } from '../../../domain/datapoints/datapoint-columns.ts';
import type {
  AppendOutcome,
  DatapointStore,
  Note,
  Push,
  Range,
  SummarisedStep,
} from '../../../domain/datapoints/datapoint-store.ts';
import type { Retaining, RetentionStep } from '../../../domain/datapoints/retention/retaining.ts';
import type { RetentionLimits } from '../../../domain/datapoints/retention/retention.ts';
import type { DeviceId } from '../../../domain/ids.ts';
import { valueGroupOf } from '../../../domain/members/wanted-values.ts';
import type { Instant } from '../../../lib/clock.ts';
import { yieldToEventLoop } from '../../../lib/event-loop.ts';
import type { Log } from '../../../lib/log.ts';
import { countInRange, scanPart } from '../../chunks/datapoint-page.ts';
import { summariseStanding } from '../../chunks/datapoint-summary.ts';
import type { DamagedRows } from '../../faults.ts';
import { bucketOf } from '../../sql/device-row.ts';
import { lockDevices, type PostgresCommit } from '../evaluations.ts';
import { tellOthers } from '../feed-log.ts';
import type { Parts } from '../parts.ts';
import { postgresLimits } from '../postgres-limits.ts';
import type { StoreContext } from '../store-context.ts';
import type { WriteSession } from '../writer.ts';
import { appendPushes } from './append.ts';
import { createChunkCache } from './chunk-cache.ts';
import {
  asideSentence,
  createFlusher,
  type Flusher,
  flushSeries,
  type HotCount,
} from './flusher.ts';
import { type HotLimits, hotLimits } from './hot-limits.ts';
import { createLastValues } from './last-values.ts';
import { createRetainedHours, putHours, takeOldDatapoints } from './retention-steps.ts';
import { createPartsLoading } from './series-parts.ts';
import { createViewSeries, type SeriesView, type Viewed } from './series-view.ts';

/** The datapoints of a database, with what its owner must call. */
export interface PostgresDatapoints extends DatapointStore {
  /** Counts what is not in chunks; before any other call. */
  start(): Promise<void>;
  /** When the last datapoint was received, of those up to `atMost`. */
  newestReceived(atMost: Instant): Promise<Instant | undefined>;
  /** Carries out one step of retention. */
  takeOld(sensor: SensorRef, limits: RetentionLimits): Promise<RetentionStep>;
  /** Reads and restores what retention left. */
  readonly retained: Pick<Retaining, 'state' | 'restore'>;
  /** Resolves when nothing is under way. The connections stay open. */
  close(): Promise<void>;
}

const selectHotCounts = `
  select bucket, series, count(*) as rows, sum(count) as count from hot group by bucket, series`;

/**
 * The datapoints of the postgres engine. A push becomes a row of "hot", and its sensor's row counts
 * it and has the last value, in one commit; later the rows of a sensor become compressed chunks.
 */
export function createDatapointStore(
  options: StoreContext & {
    readonly log: Log;
    readonly limits?: HotLimits;
    /** The process, where several serve. */
    readonly own?: number | undefined;
  },
): PostgresDatapoints {
  const { reader, writer, damaged, log, limits = hotLimits, own } = options;
  const cache = createChunkCache(limits, log);
  const hasParts = writer.parts.length > 0;
  const { loadParts, loadSeveral } = createPartsLoading(damaged, hasParts);
  const view = createViewSeries({ cache, limits, loadParts });
  const looking = { view, loadSeveral, limits, own, hasParts };
  const lasts = createLastValues(reader, damaged, hasParts);
  const hours = createRetainedHours(reader, hasParts);
  const flusher = createFlusher({
    ...{ limits, log },
    carryOut: (key) =>
      writer.call((tx) => flushSeries(tx, key, { limits, damaged }), { series: [key] }),
  });

  async function look<Result>(
    sensor: SensorRef,
    range: Viewed,
    absent: Result,
    work: (view: SeriesView) => Result,
  ): Promise<Result> {
    return (await view(reader, sensor, range, async (seen) => work(seen))) ?? absent;
  }

  const append: DatapointStore['append'] = async (batch, notesOf) => {
    const store = async (tx: WriteSession) => {
      const appended = await appendPushes(tx, batch, looking);
      if (notesOf !== undefined) {
        const wants = tx.others()?.wants;
        const isWanted = (id: DeviceId) => wants?.[valueGroupOf(id)] === '1';
        const commit: PostgresCommit = { isWanted, tx };
        const notes = await notesOf(appended.outcomes, commit);
        lockDevices(
          tx,
          notes.flatMap(({ look }) => look ?? []),
        );
        await tellInSteps(tx, notes);
      }
      return appended;
    };
    const { outcomes, rows } = await writer.call(store, { sensors: batch, locksItself: true });
    flusher.add(rows.map((row) => ({ ...row, rows: 1 })));
    return outcomes;
  };

  return {
    append: inParts(writer.parts, append),
    gatherPart: postgresLimits.gatherPart,
    scan: (sensor, page, charactersMax) =>
      look(sensor, page, { columns: toDatapointColumns([]), isCut: false }, (seen) =>
        scanPart({ ...seen, page }, charactersMax),
      ),
    summarise: (sensor, page, how) =>
      look<SummarisedStep>(sensor, { ...page, hasHours: true }, { parts: [] }, (seen) =>
        summariseStanding({ ...seen, page }, how, seen),
      ),
    count: (sensor, range) => look(sensor, range, 0, countDatapoints(range)),
    lastValues: lasts.whole,
    briefLastValues: lasts.brief,
    lastValue: lasts.one,
    newestReceived: lasts.newestReceived,
    hours: hours.hours,
    standsFrom: hours.standsFrom,
    ...createOldTaking({ writer, flusher, hours, limits, damaged }),
    async start() {
      flusher.add(await reader.all<HotCount>(selectHotCounts));
    },
    close: flusher.close,
  };
}

const missing: AppendOutcome = { kind: 'missing' };

/** Appends in a commit for each part; one that fails keeps nothing of its own pushes. */
function inParts(parts: Parts, append: DatapointStore['append']): DatapointStore['append'] {
  if (parts.length === 0) return append;
  const partOf = ({ deviceId }: Push) => parts[bucketOf(deviceId)];
  return async (batch, notesOf) => {
    /** Outcomes of parts, where their pushes are in the batch. */
    function placed(known: readonly (readonly [unknown, readonly AppendOutcome[]])[]) {
      const left = new Map(known.map(([part, own]) => [part, own.values()]));
      return batch.map((push) => left.get(partOf(push))?.next().value ?? missing);
    }
    const byPart = [...Map.groupBy(batch, partOf)];
    const appending = byPart.map(async ([part, pushes]) => {
      const failed = (reason: unknown) => pushes.map(() => ({ kind: 'failed', reason }) as const);
      const own = append(
        pushes,
        notesOf && ((outcomes, commit) => notesOf(placed([[part, outcomes]]), commit)),
      );
      return [part, await (byPart.length === 1 ? own : own.catch(failed))] as const;
    });
    return placed(await Promise.all(appending));
  };
}

const notesPerStep = 32;

async function tellInSteps(tx: WriteSession, notes: readonly Note[]): Promise<void> {
  for (let from = 0; from < notes.length; from += notesPerStep) {
    if (from > 0) await yieldToEventLoop();
    tellOthers(tx, notes.slice(from, from + notesPerStep));
  }
}

/** How many datapoints the range has. */
export const countDatapoints =
  (range: Range) =>
  ({ chunks, series, unflushed }: SeriesView): number =>
    chunks.count(series, range) + countInRange(unflushed, range);

/** Takes old datapoints out of chunks, once all that are as old have arrived there. */
function createOldTaking(parts: {
  readonly writer: StoreContext['writer'];
  readonly flusher: Pick<Flusher, 'want'>;
  readonly hours: Pick<Retaining, 'state'>;
  readonly limits: HotLimits;
  readonly damaged: DamagedRows;
}): Pick<PostgresDatapoints, 'takeOld' | 'retained'> {
  const { writer, flusher, hours, limits, damaged } = parts;
  return {
    async takeOld(sensor, ages) {
      const how = { ...ages, limits };
      const step = await writer.call((tx) => takeOldDatapoints(tx, sensor, how), {
        sensors: [sensor],
      });
      const { series, damaged: unreadable, ...report } = step;
      if (report.state === 'wait') flusher.want(series);
      if (unreadable > 0) damaged.note('chunks', series, asideSentence);
      return report;
    },
    retained: {
      state: hours.state,
      restore: (sensor, state, given) =>
        writer.call((tx) => putHours(tx, sensor, { state, given }), { sensors: [sensor] }),
    },
  };
}
