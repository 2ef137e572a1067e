import type { Instant } from '../../../lib/clock.ts';
import type { JsonValue } from '../../../lib/json.ts';
import type { Pace } from '../../../lib/scheduling/fair-slices.ts';
import { invalid } from '../../errors.ts';
import type { CorrectionId, Username } from '../../ids.ts';
import { limits } from '../../limits.ts';
import type { Datapoint, SensorRef } from '../datapoint.ts';

/** A value that takes the place of another. */
export interface CorrectedItem {
  /** The order time of the datapoints that it is about. */
  readonly time: Instant;
  /** Whether the datapoints have a timestamp; else the time is that of receipt. */
  readonly isTimed: boolean;
  readonly value: JsonValue;
}

/** A correction without its values: these may be many, and long. */
export interface CorrectionHead extends SensorRef {
  readonly id: CorrectionId;
  readonly kind: 'removed' | 'corrected';
  /** The order times of the first and the last datapoint that it touched. */
  readonly from: Instant;
  readonly to: Instant;
  /** How many datapoints it touched. */
  readonly count: number;
  readonly by: Username;
  readonly createdAt: Instant;
  readonly reach: Reach;
}

/**
 * A correction of datapoints of one sensor that an account called wrong [contract 10]. It changes
 * none: it is laid over pushed datapoints whenever they are read, and undone by being dropped.
 */
export interface Correction extends CorrectionHead {
  /** A removal: only datapoints that showed this value. Absent: all of them. */
  readonly value?: JsonValue;
  /** Corrected values, by time; empty for a removal. */
  readonly items: readonly CorrectedItem[];
}

/**
 * Which datapoints a correction is about, by their time of receipt: those that were there when it
 * was made. What is pushed later is never given such a time of receipt (`receivedOutside`).
 */
export interface Reach {
  /** Received then or earlier. */
  readonly until: Instant;
  /** Received while our clock was ahead of what it said later: from the first to the last. */
  readonly ahead?: readonly [first: Instant, last: Instant];
}

/** Whether a datapoint that was received then was there when the correction was made. */
export function reachesTo({ until, ahead }: Reach, receivedAt: Instant): boolean {
  if (receivedAt <= until) return true;
  return ahead !== undefined && receivedAt >= ahead[0] && receivedAt <= ahead[1];
}

/** The time of receipt, or the first later one that none of these corrections reaches. */
export function receivedOutside(reaches: readonly Reach[], receivedAt: Instant): Instant {
  let at = receivedAt;
  for (let reach = find(reaches, at); reach !== undefined; reach = find(reaches, at)) {
    at = (at <= reach.until ? reach.until : (reach.ahead?.[1] ?? at)) + 1;
  }
  return at;
}

const find = (reaches: readonly Reach[], at: Instant): Reach | undefined =>
  reaches.find((reach) => reachesTo(reach, at));

/** Where an item belongs: timestamps and times of receipt are different things. */
export const itemKey = (time: Instant, isTimed: boolean): string => `${isTimed ? 't' : 'r'}${time}`;

/** The key of the items that would be about a datapoint. */
export const itemKeyOf = ({ timestamp, receivedAt }: Datapoint): string =>
  itemKey(timestamp ?? receivedAt, timestamp !== undefined);

/** Whether both may touch the same datapoint. */
export const overlap = (
  one: Pick<Correction, 'from' | 'to'>,
  other: Pick<Correction, 'from' | 'to'>,
): boolean => one.from <= other.to && other.from <= one.to;

/** Throws invalid: asked before the items are read, since a body may hold very many. */
export function requireItemCount(count: number): void {
  const max = limits.correctionItemsMax;
  if (count > max) throw invalid(`one correction takes at most ${max} values: send several`);
}

/** A sensor that has corrections, and what they reach. */
export interface CorrectedSensor extends SensorRef {
  readonly reach: Reach;
}

/** Where corrections are kept. They go with their sensor. */
export interface CorrectionStore {
  /** Lists the reaches of all corrections, an entry for each. */
  reaches(): Promise<readonly CorrectedSensor[]>;
  /** Lists corrections of a sensor in the order in which they were made, without their values. */
  heads(sensor: SensorRef): Promise<readonly CorrectionHead[]>;
  /**
   * The same with their values, which are read in slices; without a pace this process does nothing
   * else. One whose values cannot be understood is left out.
   */
  list(sensor: SensorRef, pace?: Pace): Promise<readonly Correction[]>;
  /**
   * Inserts one row in one commit. missing: there is no such sensor. too_many: the sensor, or all
   * that its owner has, holds as many corrections, or as many bytes of them, as there may be.
   */
  insert(correction: Correction): Promise<'inserted' | 'missing' | 'too_many'>;
  remove(sensor: SensorRef, id: CorrectionId): Promise<'removed' | 'missing'>;
}
