import type { Clock, Instant } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { createSequence } from '../../lib/sequence.ts';
import type { Consequences } from '../datapoints/consequences.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId, SensorId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { createNote } from './evaluations.ts';
import { createFire, type FireParts } from './fire.ts';
import {
  countHad,
  type FiringLook,
  type Look,
  type LookParts,
  lookAtDatapoint,
  lookOnce,
  planFiring,
  readingAt,
} from './look.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { createSensorValues, type SensorValues, seenOf, type ValueReads } from './sensor-values.ts';
import type { Silent } from './silences.ts';
import { lookAgainAt } from './step.ts';

export interface NotifierParts extends LookParts, Omit<FireParts, 'onGone'> {
  readonly book: RuleBook;
  readonly datapoints: ValueReads;
  /** The device, if that can be said at once. */
  readonly peekDevice: (id: DeviceId) => Device | undefined;
  readonly clock: Clock;
}

/** Looks at rules when their sensors are pushed to, in push order, and lets them fire. */
export interface Notifier {
  /** The hook of the ingest path. */
  readonly consequences: Consequences;
  /** Looks at one sensor's last value now, whether it was looked at before or not. */
  evaluate(rule: Rule, device: Device, sensorId: SensorId): Promise<void>;
  /** The last values of the device are not what they were; nothing fires for it. */
  forgetValues(deviceId: DeviceId): Promise<void>;
  /** Looks again at datapoints from before the start; what was fired for does not fire again. */
  catchUp(missed: Missed): Promise<void>;
  /** Looks at a silence; answers when to look again, undefined: when the sensor was heard. */
  silenceOf(silent: Silent): Promise<Instant | undefined>;
  /** Tries again to store firings that could not be stored. */
  retry(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

/** Datapoints that may not have been looked at, and the last ones before them, in order. */
export interface Missed {
  readonly before: readonly StoredPush[];
  readonly pushes: readonly StoredPush[];
}

/** A batch of pushes that is looked at. */
interface Batch {
  /** Whether all was looked at; it may be when the work has only just been begun. */
  isOver: boolean;
  /** Pushes that led to firings, and when those are stored. */
  readonly firings: Map<StoredPush, Promise<void>>;
}

export function createNotifier(parts: NotifierParts): Notifier {
  const { book, devices, clock, evaluations, silences } = parts;
  const known = createSensorValues(parts.datapoints);
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const sequence = createSequence();

  /** Waits only where something has to be fetched, a rule fires, or others have to have a turn. */
  async function lookAtAll(
    pushes: readonly StoredPush[],
    batch: Batch,
    isAgain: boolean,
  ): Promise<void> {
    let looks = 0;
    for (const push of pushes) {
      try {
        const { deviceId, sensorId, datapoints } = push;
        const device = parts.peekDevice(deviceId) ?? (await devices.find(deviceId));
        const sensor = device && sensorOf(device, sensorId);
        if (device === undefined || sensor === undefined) continue;
        const rules = book.index.rulesOn(deviceId, sensorId, ownerFor(device));
        const values = needsValues(rules, device, sensorId, known)
          ? (known.peek(device) ?? (await known.fetch(device)))
          : undefined;
        const had = isAgain ? rules.map((rule) => countHad(parts.states, rule, push)) : [];
        const look = { push, device, sensor, rules, values, had };
        const stored: Promise<void>[] = [];
        for (const [place, datapoint] of datapoints.entries()) {
          // Where no rule looks, what is known of the sensor is its last one.
          if (rules.length === 0 && place < datapoints.length - 1) continue;
          if (!isAgain) silences().seen(deviceId, sensorId, datapoint.receivedAt);
          const firing = lookAtDatapoint(parts, look, datapoint, place);
          if (firing.length > 0) stored.push(...(await fireAll(firing)));
          looks += rules.length;
          if (looks >= limits.datapointsPerTurn) looks = await yieldToEventLoop().then(() => 0);
        }
        if (values !== undefined) known.keep(device, values);
        if (stored.length > 0)
          batch.firings.set(push, handled(Promise.all(stored).then(() => undefined)));
      } catch (error) {
        // Whoever pushed it is told; the other pushes of the batch are looked at all the same.
        batch.firings.set(push, handled(Promise.reject(error)));
      }
    }
    batch.isOver = true;
  }

  /** What was known of the sensors before the datapoints that were missed. */
  async function goBackTo(before: readonly StoredPush[]): Promise<void> {
    for (const { deviceId, sensorId, datapoints } of before) {
      const device = await devices.find(deviceId);
      const sensor = device && sensorOf(device, sensorId);
      if (device === undefined || sensor === undefined) continue;
      const values = known.peek(device) ?? (await known.fetch(device));
      const [last] = datapoints;
      if (last === undefined) values.delete(sensorId);
      else values.set(sensorId, seenOf(sensor, last));
    }
  }

  async function fireAll(looks: readonly FiringLook[]): Promise<readonly Promise<void>[]> {
    const stored: Promise<void>[] = [];
    for (const look of looks) {
      const planned = await planFiring(parts, look);
      if (planned !== undefined) stored.push(fire(planned));
    }
    return stored;
  }

  /** A look that no push calls for; a firing is on its way when it resolves. */
  async function lookNow(look: Look, options: { readonly isRepeatedByCaller: boolean }) {
    const result = lookOnce(parts, look);
    const planned = result.firing && (await planFiring(parts, { ...look, ...result.firing }));
    return { result, stored: planned && handled(fire(planned, options)) };
  }

  async function lookAtSilence({ rule, deviceId, sensorId, seenAt }: Silent) {
    const device = await devices.find(deviceId);
    if (device === undefined || sensorOf(device, sensorId) === undefined) return {};
    const values = await known.fetch(device);
    const heardAt = values.get(sensorId)?.at ?? seenAt;
    const at = clock.now();
    // Another process took a datapoint in meanwhile.
    if (heardAt > seenAt) {
      silences().seen(deviceId, sensorId, heardAt);
      return { nextAt: at };
    }
    const note = createNote(evaluations, { at, deviceId, sensorId });
    const reading = readingAt(values, at, { sensorId, silentSince: seenAt });
    const look = { rule, device, reading, note };
    const { result, stored } = await lookNow(look, { isRepeatedByCaller: true });
    return { nextAt: lookAgainAt(rule, result), stored };
  }

  return {
    consequences(pushes) {
      const concerned = pushes.filter(
        (push) => book.index.concerns(push.deviceId, push.sensorId) || known.has(push.deviceId),
      );
      if (concerned.length === 0) return undefined;
      const batch: Batch = { isOver: false, firings: new Map() };
      const { firings } = batch;
      const looked = sequence.run(() => lookAtAll(concerned, batch, false));
      if (batch.isOver) return undefined;
      const watched = new Set(concerned);
      return pushes.map((push) =>
        watched.has(push) ? handled(looked.then(() => firings.get(push))) : undefined,
      );
    },
    async evaluate(rule, device, sensorId) {
      const { stored } = await sequence.run(async () => {
        const values = await known.fetch(device);
        const seen = values.get(sensorId);
        if (seen === undefined) return { stored: undefined };
        const at = clock.now();
        const reading = readingAt(values, at, { sensorId });
        const { value } = seen;
        const note = createNote(evaluations, { at, deviceId: device.id, sensorId, value });
        return lookNow({ rule, device, reading, note }, { isRepeatedByCaller: false });
      });
      await stored;
    },
    async catchUp({ before, pushes }) {
      const batch: Batch = { isOver: false, firings: new Map() };
      await sequence.run(async () => {
        await goBackTo(before);
        await lookAtAll(pushes, batch, true);
        known.clear();
      });
      await Promise.all(batch.firings.values());
    },
    async silenceOf(silent) {
      const { nextAt, stored } = await sequence.run(() => lookAtSilence(silent));
      await stored;
      return nextAt;
    },
    forgetValues: (deviceId) => sequence.run(async () => known.drop(deviceId)),
    retry: fire.retry,
    async drain() {
      await sequence.drain();
      await fire.drain();
    },
  };
}

/** Whether some rule may ask for a value beside the one that was pushed, or did before. */
function needsValues(
  rules: readonly Rule[],
  { id }: Device,
  sensorId: SensorId,
  known: SensorValues,
): boolean {
  return known.has(id) || rules.some(({ named }) => named.some((name) => name !== sensorId));
}

/** Whose rules for all devices look at it: nobody's until its owner accepted it [contract 14]. */
const ownerFor = ({ owner, isPending }: Device): Username | undefined =>
  isPending === true ? undefined : owner;

/** Its failure is told to whoever waits for it, and is nobody's fault when none does. */
function handled<Result>(work: Promise<Result>): Promise<Result> {
  work.catch(() => undefined);
  return work;
}
