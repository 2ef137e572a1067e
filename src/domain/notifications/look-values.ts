import { writeJson } from '../../lib/long-json.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PushInTurn } from './in-turn.ts';
import { lookLimits } from './look-limits.ts';
import type { LookedValue, LookStore, WaitingLook } from './look-store.ts';
import type { Rule } from './rule.ts';
import {
  createSensorValues,
  type SeenValues,
  type SensorValues,
  seenOf,
  type ValueReads,
} from './sensor-values.ts';

export interface LookValueParts {
  readonly looks: Pick<LookStore, 'line' | 'valuesOf'>;
  readonly datapoints: ValueReads & Pick<DatapointStore, 'read'>;
  /** The pushes that looks wait for; those that time or a client calls for have none. */
  readonly pushesOf: (some: readonly WaitingLook[]) => readonly StoredPush[];
}

/** What is stored, and not looked at when the look is made. */
export interface Ahead {
  /** In the same step. */
  readonly behind: readonly StoredPush[];
  readonly rest: readonly WaitingLook[];
  /** Whether it matters to the look. */
  readonly isOther: (push: StoredPush) => boolean;
}

/** Last values for looks in turn: the store is ahead of a look by all that waits behind it. */
export interface LookValues {
  /** As they were before what is `ahead` of the looks that are made. */
  before(device: Device, made: readonly string[], ahead: Ahead): Promise<SeenValues>;
  /** For looks at pushes, as they were before the first of them. */
  forPushes(
    device: Device,
    rules: ReadonlySet<Rule>,
    some: readonly PushInTurn[],
    rest: readonly WaitingLook[],
  ): Promise<SensorValues>;
}

export function createLookValues(parts: LookValueParts): LookValues {
  const { looks } = parts;
  const values = createSensorValues(parts.datapoints);

  /**
   * Last values as they were before looks that are still to be made: those `behind` one that is
   * made now, and those that wait. What is committed meanwhile shows in the line: then anew.
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
      const line = await looks.line(device.id);
      const now = line.looks.filter(({ id }) => !made.includes(id));
      if (isSame(now, waiting) || tries >= lookLimits.valuesTriesMax) return found;
      waiting = now;
    }
  }

  async function valuesWithout(device: Device, ahead: readonly StoredPush[]): Promise<SeenValues> {
    const found = await values.fetch(device);
    values.drop(device.id);
    const bySensor = Map.groupBy(ahead, (push) => push.sensorId);
    if (bySensor.size === 0) return found;
    const looked = await looks.valuesOf(device.id, [...bySensor.keys()]);
    for (const [sensorId, some] of bySensor) {
      const sensor = sensorOf(device, sensorId);
      if (sensor === undefined) continue;
      const received = await lastBefore(parts.datapoints, device.id, some);
      const last = lookedAtOr(looked.get(sensorId), received);
      if (last === undefined) found.delete(sensorId);
      else found.set(sensorId, seenOf(sensor, last));
    }
    return found;
  }

  /** Where a rule asks for more than the value that is pushed. */
  async function forPushes(
    device: Device,
    rules: ReadonlySet<Rule>,
    some: readonly PushInTurn[],
    rest: readonly WaitingLook[],
  ): Promise<SensorValues> {
    const [first, ...behind] = some.map(({ push }) => push);
    const named = new Set<string>([...rules].flatMap((rule) => rule.named));
    if (first === undefined || named.size === 0) return asKnown(undefined);
    if (behind.length === 0 && [...named].every((name) => name === first.sensorId)) {
      return asKnown(undefined);
    }
    const made = some.map(({ look }) => look.id);
    // The first one says itself what its sensor was pushed.
    const isOther = ({ sensorId }: StoredPush): boolean =>
      sensorId !== first.sensorId && named.has(sensorId);
    return asKnown(await before(device, made, { behind, rest, isOther }));
  }

  return { before, forPushes };
}

const isSame = (some: readonly WaitingLook[], others: readonly WaitingLook[]): boolean =>
  some.length === others.length && some.every(({ id }, place) => id === others[place]?.id);

/** What looks of one device are given of its values. */
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

/** Processes receive in another order than they commit; rules may not have looked for long. */
function lookedAtOr(
  looked: LookedValue | undefined,
  received: Datapoint | undefined,
): Datapoint | undefined {
  const until = (looked?.receivedAt ?? Number.NEGATIVE_INFINITY) + lookLimits.reorderMsMax;
  return received !== undefined && received.receivedAt > until ? received : (looked ?? received);
}

/** The datapoint that was received last before these of the same sensor. */
async function lastBefore(
  datapoints: Pick<DatapointStore, 'read'>,
  deviceId: DeviceId,
  pushes: readonly StoredPush[],
): Promise<Datapoint | undefined> {
  const [push] = pushes;
  if (push === undefined) return undefined;
  const ahead = new Set(pushes.flatMap((one) => one.datapoints.map(keyOf)));
  const limit = Math.min(ahead.size + 1, limits.catchUpDatapointsMax);
  const page = { order: 'desc', skip: 0, limit } as const;
  const read = await datapoints.read({ deviceId, sensorId: push.sensorId }, page);
  let last: Datapoint | undefined;
  for (const datapoint of read) {
    const isBefore = !ahead.has(keyOf(datapoint));
    if (isBefore && datapoint.receivedAt > (last?.receivedAt ?? Number.NEGATIVE_INFINITY)) {
      last = datapoint;
    }
  }
  return last;
}

const keyOf = ({ timestamp, receivedAt, value }: Datapoint): string =>
  `${receivedAt} ${timestamp ?? ''} ${writeJson(value)}`;
