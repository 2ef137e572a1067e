import type { Instant } from '../../lib/clock.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import { type Steps, stepsOf } from '../../lib/steps.ts';
import type { Calibration } from '../devices/calibration.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import type { ColumnBatch } from './column-batch.ts';
import type { Datapoint, SensorRef } from './datapoint.ts';
import {
  calibratedColumns,
  type DatapointColumns,
  datapointsOf,
  timeIn,
} from './datapoint-columns.ts';
import type { Stretches, SummarisedPart } from './stretches.ts';

/** The datapoints one request hands over for one sensor, in the order given. */
export interface Push extends SensorRef {
  readonly batch: ColumnBatch;
  /** By an actor who may push to the device only because it is public. */
  readonly isByStranger?: boolean;
  /** For listeners; never stored, but for the id of a message. */
  readonly publishContext?: PublishContext;
}

/** Outcome of a push: the datapoints that were not stored already, in their order. */
export type AppendOutcome =
  | {
      readonly kind: 'stored';
      readonly fresh: ColumnBatch;
      /** Weight of the fresh datapoints (see `weigh`); absent: nothing. */
      readonly weight?: number;
      /** The fresh ones are no older than anything the sensor had. Absent: not known. */
      readonly isAhead?: boolean;
      /** The fresh ones were received after the last value of the sensor. Absent: not known. */
      readonly isLater?: boolean;
      /** All subscribers get it by the log: sent again, it is only acknowledged. */
      readonly isHandedOn?: boolean;
    }
  | { readonly kind: 'missing' }
  /** The push could not be stored by itself, though others of its batch could. */
  | { readonly kind: 'failed'; readonly reason: unknown };

/** A filed evaluation of rules: its position is one over all processes that serve the same data. */
export interface NewEvaluation {
  readonly id: string;
  /** The process that makes it. */
  readonly member: number;
  readonly deviceId: DeviceId;
}

/** Message on a push for other processes, and the rule evaluation that is filed with it. */
export interface Note {
  readonly text: string;
  readonly look?: NewEvaluation;
  /** No process wants it: it is for the evaluation alone. */
  readonly isOwn?: boolean;
}

/** A commit that is being made; the stores of its engine know more of it. */
export interface Commit {
  /** Whether there are other processes, and any process wants to hear of values of the device. */
  readonly isWanted: (deviceId: DeviceId) => boolean;
}

/** Makes the messages on a batch for other processes. */
export type NotesOf = (
  outcomes: readonly AppendOutcome[],
  commit: Commit,
) => Promise<readonly Note[]>;

/** Which datapoints of a sensor: order time from `from` to `to`, both ends included. */
export interface Range {
  readonly from?: Instant;
  readonly to?: Instant;
}

export interface Page extends Range {
  /** asc: oldest first. Datapoints with the same order time keep the order of their arrival
   * (desc: reversed). */
  readonly order: 'asc' | 'desc';
  readonly skip: number;
  readonly limit: number;
}

/** Last values by device, then sensor. Sensors without datapoints are absent. */
export type LastValues = ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Datapoint>>;
/** Small last values, and which ones are large: those are read one by one, with `lastValue`. */
export type BriefLastValues = ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Datapoint | 'large'>>;

/** Some datapoints of a page, from its beginning, column by column. */
export interface ScannedPart {
  readonly columns: DatapointColumns;
  /** The page may go on: the values so far are as many characters as were asked for. */
  readonly isCut: boolean;
}

/** How a store may summarise. */
export interface SummariseOptions {
  /** About how many datapoints one step hands over as they are, and how long their texts are. */
  readonly rowsMax: number;
  readonly charactersMax: number;
  /**
   * Whether a stretch may represent its datapoints; else they are wanted as they are. `before` are
   * those of the page that come before it in this step; undefined: unknown how many.
   */
  readonly mayStand: (stretches: Stretches, at: number, before?: number) => boolean;
  /**
   * Ranges whose datapoints are wanted as they are, in order of time, none of which overlap: of a
   * store that wraps another one and changes some datapoints.
   */
  readonly exclude?: readonly Required<Range>[];
}

/** A step of a summarised read. */
export interface SummarisedStep {
  /** Oldest first, without gaps. */
  readonly parts: readonly SummarisedPart[];
  /** Rest of the page; absent: nothing. */
  readonly next?: Page;
}

/** Where datapoints are kept. */
export interface DatapointStore {
  /**
   * Makes a whole batch durable in one commit: when it resolves, every datapoint is synced to disk.
   * A datapoint whose sensor already has one with the same timestamp and value is not stored again;
   * those without a timestamp always are, unless their push came under a packet id (`receivedAs`)
   * that its session has kept: a push that brings something new keeps its id in the same commit,
   * and fails where the session is of another process. Each push moves its sensor's last value to
   * its newest datapoint by timestamp, or to its last one when none has a timestamp; unless that
   * datapoint was stored already. A sensor that does not exist: 'missing', and nothing of that push
   * is kept. `notesOf` makes the messages for other processes, and evaluations to file, of the same
   * commit; it is asked more than once when a commit has to be tried again.
   * Throws DomainError unavailable when nothing of the batch was kept.
   */
  append(batch: readonly Push[], notesOf?: NotesOf): Promise<readonly AppendOutcome[]>;
  /** The part of a commit's time that the next one waits for callers of it. Absent: none. */
  readonly gatherPart?: number;
  /** Resolves when a long push would delay no other push. Absent: it never would. */
  readyForLong?(): Promise<void>;
  /** Reads a page until its values have `charactersMax` characters. An unknown sensor has none. */
  scan(sensor: SensorRef, page: Page, charactersMax: number): Promise<ScannedPart>;
  /**
   * Summarises one step of a page, oldest first whatever its order: stretches where the store knows
   * them and the reader lets them represent datapoints, other datapoints as they are. Skip and
   * limit count stored datapoints. Where retention took datapoints, the figures of hours represent
   * them, unless the page ends after so many.
   */
  summarise(sensor: SensorRef, page: Page, options: SummariseOptions): Promise<SummarisedStep>;
  count(sensor: SensorRef, range: Range): Promise<number>;
  /** From when the range's datapoints are kept. Undefined: retention took none of them. */
  standsFrom(sensors: readonly SensorRef[], range: Range): Promise<Instant | undefined>;
  /** Reads the hours that retention left and that begin in the range, oldest first, up to `max`. */
  hours(sensor: SensorRef, range: Range, max: number): Promise<Stretches>;
  /** The last values of all sensors of these devices, whatever their size. */
  lastValues(devices: readonly DeviceId[]): Promise<LastValues>;
  /** The same for lists: what it answers of each sensor is bounded. */
  briefLastValues(devices: readonly DeviceId[]): Promise<BriefLastValues>;
  lastValue(sensor: SensorRef): Promise<Datapoint | undefined>;
}

/** Limits of what is read of a sensor at once. */
export interface StepBudget {
  readonly rowsMax: number;
  readonly charactersMax: number;
}

/** Limits of a step that is answered as it is. */
const answerStep: StepBudget = {
  rowsMax: limits.datapointsPerStep,
  charactersMax: limits.datapointCharactersPerStep,
};

/**
 * Reads a page in steps of bounded size, between which other work has its slice. Each step begins
 * at the order time where the last one ended and skips what was seen there, so datapoints that
 * arrive meanwhile neither repeat nor hide any.
 */
export function readColumnSteps(options: {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly ref: SensorRef;
  readonly page: Page;
  /** Absent: values as they were pushed. */
  readonly calibration?: Calibration | undefined;
  readonly pace: Pace;
  /** Read again for each step. */
  readonly room?: StepBudget;
}): Steps<DatapointColumns> {
  const { datapoints, ref, calibration, pace, room = answerStep } = options;
  let { page } = options;
  let remaining = page.limit;
  let hasBegun = false;
  return stepsOf(async () => {
    if (remaining <= 0) return undefined;
    // The store answers from memory and from a mapped file: without this no other work has a slice.
    if (hasBegun && pace.isOver()) await pace.rest();
    hasBegun = true;
    const limit = Math.min(remaining, room.rowsMax);
    const { columns: step, isCut } = await datapoints.scan(
      ref,
      { ...page, limit },
      room.charactersMax,
    );
    remaining = step.count < limit && !isCut ? 0 : remaining - step.count;
    if (step.count === 0) return undefined;
    page = following(page, step.count, (index) => timeIn(step, index));
    return calibratedColumns(step, calibration);
  });
}

/** All datapoints of a page: for pages that are known to be small. */
export async function readDatapoints(
  datapoints: Pick<DatapointStore, 'scan'>,
  ref: SensorRef,
  page: Page,
): Promise<readonly Datapoint[]> {
  const found: Datapoint[][] = [];
  for await (const columns of readColumnSteps({ datapoints, ref, page, pace: ownPace() })) {
    found.push(datapointsOf(columns));
  }
  return found.flat();
}

/** The rest of the page after `count` datapoints (one or more), without those already seen. */
export function following(page: Page, count: number, timeAt: (index: number) => Instant): Page {
  const end = timeAt(count - 1);
  let skip = 1;
  while (skip < count && timeAt(count - 1 - skip) === end) skip += 1;
  // A whole step at one order time: some of those skipped may have it, too, so only the skip grows.
  if (skip === count) return { ...page, skip: page.skip + count };
  return page.order === 'asc' ? { ...page, from: end, skip } : { ...page, to: end, skip };
}
