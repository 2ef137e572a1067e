import type { Clock, Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { sameJson } from '../../../lib/long-json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import { createKeyedSequence } from '../../../lib/scheduling/payer-queues.ts';
import { createHexId } from '../../../lib/secret-token.ts';
import { formatTimestamp } from '../../../lib/timestamp.ts';
import { type Actor, usernameOf } from '../../actor.ts';
import type { StorageQuotas } from '../../budgets/storage-quotas.ts';
import { isTooLarge, valueTooLarge } from '../../devices/device.ts';
import { noSensor } from '../../devices/devices.ts';
import { DomainError, notFound } from '../../errors.ts';
import { type CorrectionId, parseCorrectionId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoint.ts';
import { type DatapointColumns, datapointsOf } from '../datapoint-columns.ts';
import { type DatapointStore, type Range, readColumnSteps } from '../datapoint-store.ts';
import type { ReadParts } from '../history.ts';
import { dayMs } from '../retention/retention.ts';
import { requireSensor } from '../sensor-selection.ts';
import {
  type CorrectedItem,
  type Correction,
  type CorrectionHead,
  itemKey,
  itemKeyOf,
  overlap,
  requireItemCount,
} from './correction.ts';
import type { CorrectionBook } from './correction-book.ts';

/** Outcome of a correction; without an id it found nothing, and there is none. */
export interface CorrectionOutcome {
  readonly count: number;
  readonly id?: CorrectionId;
}

/**
 * Putting right what was measured or sent wrongly, and undoing that, for those who may update the
 * device [contract 10]. What was pushed stays as it is; nothing fires. What is pushed after the
 * answer is not touched.
 */
export type Corrections = ReturnType<typeof createCorrections>;

export function createCorrections(
  options: Omit<ReadParts, 'pushedDatapoints'> & {
    readonly book: CorrectionBook;
    readonly clock: Clock;
    readonly room: StorageQuotas;
    readonly valueBytesMax: number;
  },
) {
  const { book, clock, longWork, room } = options;
  const inTurn = createKeyedSequence();
  const allow = (actor: Actor, sensor: SensorRef) =>
    requireSensor(options, actor, 'devices:update', sensor);

  /** Runs tasks of a sensor one after the other: each finds what those before it left. */
  const oneByOne = <Result>(
    { deviceId, sensorId }: SensorRef,
    task: () => Promise<Result>,
  ): Promise<Result> => inTurn(`${deviceId}/${sensorId}`, task);

  /** Finds datapoints and files the correction, as long work, one after the other of a sensor. */
  const make = (actor: Actor, sensor: SensorRef, find: FindDraft): Promise<CorrectionOutcome> =>
    longWork.run(actor, (pace) => oneByOne(sensor, () => makeNow(actor, sensor, pace, find)));

  /** Keeps pushes apart from the correction meanwhile. */
  async function makeNow(
    actor: Actor,
    sensor: SensorRef,
    pace: Pace,
    find: FindDraft,
  ): Promise<CorrectionOutcome> {
    const { datapoints } = options;
    pace.begin();
    const until = clock.now();
    const hold = book.hold(sensor, until);
    try {
      await hold.settled;
      const draft = await find({ datapoints, sensor, until, clock, pace });
      if (draft === undefined) return { count: 0 };
      const id = parseCorrectionId(createHexId());
      const { touched, ...what } = draft;
      const ref = { deviceId: sensor.deviceId, sensorId: sensor.sensorId };
      const correction = {
        id,
        ...ref,
        ...what,
        ...touched,
        by: usernameOf(actor),
        createdAt: until,
      };
      const outcome = await book.insert(correction);
      if (outcome === 'missing') throw noSensor(sensor.deviceId, sensor.sensorId);
      if (outcome === 'too_many') throw tooMany();
      return { count: touched.count, id };
    } finally {
      hold.release();
    }
  }

  return {
    /** Removes what is shown in the range, or those of it that show `value`. */
    async remove(
      actor: Actor,
      sensor: SensorRef,
      range: Range,
      value?: JsonValue,
    ): Promise<CorrectionOutcome> {
      await allow(actor, sensor);
      // Not the quota: an owner who has used it up may still remove, within limits of corrections.
      room.requireDisk(actor);
      const what = { kind: 'removed', items: [], ...(value !== undefined && { value }) } as const;
      return make(actor, sensor, async (search) => {
        const touched = await findInRange(search, range, value);
        return touched && { ...what, touched };
      });
    },
    /** Gives datapoints other values; `missing` are the items for which there is none. */
    async correct(
      actor: Actor,
      sensor: SensorRef,
      items: readonly CorrectedItem[],
    ): Promise<CorrectionOutcome & { readonly missing: readonly CorrectedItem[] }> {
      const [{ owner }] = await allow(actor, sensor);
      room.require(actor, owner);
      requireItems(actor, items, options.valueBytesMax);
      let missing: readonly CorrectedItem[] = items;
      const outcome = await make(actor, sensor, async (search) => {
        const { touched, found } = await findItems(search, items);
        const has = ({ time, isTimed }: CorrectedItem) => found.has(itemKey(time, isTimed));
        missing = items.filter((item) => !has(item));
        return touched && { kind: 'corrected', items: items.filter(has), touched };
      });
      return { ...outcome, missing };
    },
    /** Lists the corrections of a sensor, newest first. */
    async list(actor: Actor, sensor: SensorRef): Promise<readonly CorrectionHead[]> {
      await allow(actor, sensor);
      return (await book.heads(sensor)).toReversed();
    },
    /** Throws not_found, and blocked when a later one overlaps it or its time is over. */
    async undo(actor: Actor, sensor: SensorRef, id: CorrectionId): Promise<void> {
      await allow(actor, sensor);
      await oneByOne(sensor, async () => {
        const corrections = await book.heads(sensor);
        const correction = corrections.find((one) => one.id === id);
        if (correction === undefined) throw noCorrection();
        requireUndoable(correction, corrections, clock);
        const outcome = await book.remove(sensor, id);
        if (outcome === 'missing') throw noCorrection();
      });
    },
  };
}

type FindDraft = (search: Search) => Promise<CorrectionDraft | undefined>;
type CorrectionDraft = Pick<Correction, 'kind' | 'items' | 'value'> & { readonly touched: Touched };

function requireItems(actor: Actor, items: readonly CorrectedItem[], valueBytesMax: number): void {
  requireItemCount(items.length);
  let bytes = 0;
  for (const [index, { value }] of items.entries()) {
    const where = ` of value ${index + 1}`;
    if (isTooLarge(actor, value, valueBytesMax)) throw valueTooLarge(valueBytesMax, where);
    bytes += typeof value === 'number' ? 0 : JSON.stringify(value).length;
  }
  if (bytes <= limits.correctionCharactersMax) return;
  throw new DomainError('too_large', 'the values of one correction are too long: send several');
}

function requireUndoable(
  correction: CorrectionHead,
  corrections: readonly CorrectionHead[],
  clock: Clock,
): void {
  const age = clock.now() - correction.createdAt;
  if (age > limits.undoMs) {
    const days = Math.round(limits.undoMs / dayMs);
    throw blocked(`a correction can be undone for ${days} days: this one is final`);
  }
  const later = corrections.slice(corrections.indexOf(correction) + 1);
  const above = later.findLast((one) => overlap(one, correction));
  if (above === undefined) return;
  throw blocked(
    `a later correction (${above.id} of ${formatTimestamp(above.createdAt)}) is about some of ` +
      'the same time: undo that one first',
  );
}

const noCorrection = () => notFound('there is no correction with this id');
const blocked = (message: string) => new DomainError('blocked', message);

const tooMany = () =>
  new DomainError(
    'limit_reached',
    `a sensor has at most ${limits.correctionsPerSensorMax} corrections, and all things of an ` +
      `owner ${limits.correctionsPerOwnerMax}: undo some, or correct more with one request`,
  );

/** Datapoints that a correction would touch. */
type Touched = Pick<CorrectionHead, 'count' | 'from' | 'to' | 'reach'>;

/** Range of a search: what is shown of a sensor, received until `until`. */
export interface Search {
  readonly datapoints: Pick<DatapointStore, 'scan'>;
  readonly sensor: SensorRef;
  /** Time of receipt that all pushes from now on are later than. */
  readonly until: Instant;
  readonly clock: Clock;
  readonly pace: Pace;
}

/** The datapoints in the range, or those of them that show the value; undefined: none. */
export async function findInRange(
  search: Search,
  range: Range,
  value: JsonValue | undefined,
): Promise<Touched | undefined> {
  const tally = createTally(search);
  for await (const columns of stepsOf(search, range, limits.datapointsPerScan)) {
    for (const datapoint of datapointsOf(columns)) {
      if (value === undefined || sameJson(value, datapoint.value)) tally.add(datapoint);
    }
  }
  return tally.finish();
}

/** The datapoints that the items are about, and the keys of the items that found any. */
export async function findItems(
  search: Search,
  items: readonly CorrectedItem[],
): Promise<{ readonly touched: Touched | undefined; readonly found: ReadonlySet<string> }> {
  const wanted = new Set(items.map(({ time, isTimed }) => itemKey(time, isTimed)));
  const tally = createTally(search);
  const found = new Set<string>();
  for (const time of new Set(items.map((item) => item.time))) {
    for await (const columns of stepsOf(search, { from: time, to: time }, rowsAtOneTime)) {
      for (const datapoint of datapointsOf(columns)) {
        const key = itemKeyOf(datapoint);
        if (wanted.has(key) && tally.add(datapoint)) found.add(key);
      }
    }
    if (search.pace.isOver()) await search.pace.rest();
  }
  return { touched: tally.finish(), found };
}

const rowsAtOneTime = 64;

/** Counts those that were there before the search began. */
function createTally({ until, clock }: Search) {
  let count = 0;
  let [from, to] = [Infinity, -Infinity];
  let [aheadFirst, aheadLast] = [Infinity, -Infinity];
  return {
    /** False: it came while the search was under way. */
    add(datapoint: Datapoint): boolean {
      const { receivedAt } = datapoint;
      if (receivedAt > until) {
        if (receivedAt <= clock.now()) return false;
        // Our clock was ahead of what it says now, or it would not be there.
        aheadFirst = Math.min(aheadFirst, receivedAt);
        aheadLast = Math.max(aheadLast, receivedAt);
      }
      const time = orderTime(datapoint);
      count += 1;
      from = Math.min(from, time);
      to = Math.max(to, time);
      return true;
    },
    finish(): Touched | undefined {
      if (count === 0) return undefined;
      const ahead = [aheadFirst, aheadLast] as const;
      return { count, from, to, reach: aheadFirst === Infinity ? { until } : { until, ahead } };
    },
  };
}

const stepsOf = (
  { datapoints, sensor: ref, pace }: Search,
  range: Range,
  rowsMax: number,
): AsyncIterable<DatapointColumns> =>
  readColumnSteps({
    ...{ datapoints, ref, pace },
    page: { ...range, order: 'asc', skip: 0, limit: Number.POSITIVE_INFINITY },
    room: { rowsMax, charactersMax: limits.datapointCharactersPerStep },
  });
