import { writeJson } from '../../lib/long-json.ts';
import { type Datapoint, type Newest, noNewest } from '../datapoints/datapoint.ts';
import { readDatapoints } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import type { EvaluationStore, NextPush, WaitingEvaluation } from './notification-store.ts';
import type { Rule } from './rule.ts';
import {
  createSensorValues,
  newestOf,
  type PushTimes,
  type SeenValues,
  type SensorValues,
  setInOrder,
  type ValueReads,
} from './sensor-values.ts';

/** Pushes that are stored, and not evaluated yet when an evaluation is run. */
interface Ahead {
  /** In the same step. */
  readonly behind: readonly StoredPush[];
  readonly rest: readonly WaitingEvaluation[];
  /** Whether it matters to the evaluation. */
  readonly isOther: (push: StoredPush) => boolean;
}

/** Reads last values for queued evaluations: the store is ahead by all that waits behind one. */
export function createEvaluatedValues(parts: {
  readonly looks: Pick<EvaluationStore, 'line'>;
  readonly datapoints: ValueReads;
  /** The pushes that evaluations wait for; those that time or a client calls for have none. */
  readonly pushesOf: (some: readonly WaitingEvaluation[]) => readonly StoredPush[];
}) {
  const { looks } = parts;
  const values = createSensorValues(parts.datapoints);

  /**
   * Last values as they were before evaluations that are still to be run: those `behind` one that
   * is run now, and those that wait. Commits meanwhile show in the queue: then anew.
   */
  async function before(
    device: Device,
    made: readonly string[],
    { behind, rest, isOther }: Ahead,
  ): Promise<SeenValues> {
    let waiting = rest;
    for (let tries = 1; ; tries += 1) {
      const ahead = [...behind, ...parts.pushesOf(waiting)].filter(isOther);
      const found = await valuesWithout(device, ahead);
      const queue = await looks.line(device.id);
      const now = queue.looks.filter(({ id }) => !made.includes(id));
      if (isSame(now, waiting) || tries >= evaluationLimits.valuesTriesMax) return found;
      waiting = now;
    }
  }

  async function valuesWithout(device: Device, ahead: readonly StoredPush[]): Promise<SeenValues> {
    const found = await values.fetch(device);
    values.drop(device.id);
    const bySensor = Map.groupBy(ahead, (push) => push.sensorId);
    for (const [sensorId, some] of bySensor) {
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) continue;
      const count = some.reduce((sum, { datapoints }) => sum + datapoints.length, 0);
      const limit =
        Math.min(count, limits.catchUpDatapointsMax) + evaluationLimits.lastNumberSearchedMax;
      const page = { order: 'desc', skip: 0, limit } as const;
      const read = await readDatapoints(parts.datapoints, { deviceId: device.id, sensorId }, page);
      setInOrder(found, sensor, read.filter(isBefore(some)));
    }
    return found;
  }

  /** Reads values for pushes as they were before the first, where a rule asks for more than it. */
  async function forPushes(
    device: Device,
    rules: ReadonlySet<Rule>,
    some: readonly NextPush[],
    rest: readonly WaitingEvaluation[],
  ): Promise<SensorValues> {
    const [first, ...behind] = some.map(({ push }) => push);
    const named = new Set<string>([...rules].flatMap((rule) => rule.named));
    if (first === undefined || named.size === 0) return asKnown(undefined);
    if (behind.length === 0 && [...named].every((name) => name === first.sensorId)) {
      return asKnown(undefined);
    }
    const made = some.map(({ evaluation }) => evaluation.id);
    // The first one says itself what its sensor was pushed.
    const isOther = ({ sensorId }: StoredPush): boolean =>
      sensorId !== first.sensorId && named.has(sensorId);
    return asKnown(await before(device, made, { behind, rest, isOther }));
  }

  /** The newest times of the sensors as they were before these evaluations. */
  function timesBefore(some: readonly NextPush[], rest: readonly WaitingEvaluation[]): PushTimes {
    const known = new Map<SensorId, Newest>();
    return {
      peek: ({ sensorId }) => known.get(sensorId),
      async before(push) {
        if (push.isAhead === true) return noNewest;
        const own = some.map((one) => one.push);
        const ahead = [...own, ...parts.pushesOf(rest)].filter(
          ({ sensorId }) => sensorId === push.sensorId,
        );
        const receivedAt = push.datapoints[0]?.receivedAt;
        return newestOf(parts.datapoints, push, isBefore(ahead, receivedAt));
      },
      keep: ({ sensorId }, newest) => void known.set(sensorId, newest),
    };
  }

  return { before, forPushes, timesBefore };
}

const isSame = (
  some: readonly WaitingEvaluation[],
  others: readonly WaitingEvaluation[],
): boolean =>
  some.length === others.length && some.every(({ id }, place) => id === others[place]?.id);

/** Gives evaluations of one device the values that were read before them. */
function asKnown(found: SeenValues | undefined): SensorValues {
  return {
    has: () => found !== undefined,
    peek: () => found,
    fetch: async () => {
      throw new Error('values are read before the looks');
    },
    keep: () => undefined,
    drop: () => undefined,
    clear: () => undefined,
  };
}

/**
 * Whether a datapoint, newest first, is none of these pushes, and was not received after them. Of
 * equal ones the newest are theirs.
 */
function isBefore(
  ahead: readonly StoredPush[],
  receivedAt = Number.POSITIVE_INFINITY,
): (datapoint: Datapoint) => boolean {
  const counts = new Map<string, number>();
  const add = (key: string, by: number): number => {
    const count = (counts.get(key) ?? 0) + by;
    counts.set(key, count);
    return count;
  };
  for (const { datapoints } of ahead) for (const one of datapoints) add(keyOf(one), 1);
  return (datapoint) => datapoint.receivedAt <= receivedAt && add(keyOf(datapoint), -1) < 0;
}

const keyOf = ({ timestamp, receivedAt, value }: Datapoint): string =>
  `${receivedAt} ${timestamp ?? ''} ${writeJson(value)}`;
