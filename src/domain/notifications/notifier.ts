import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Consequences } from '../datapoints/consequences.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { DatapointStore, Push } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../datapoints/history.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import type { EvaluationOutcome, Evaluations } from './evaluations.ts';
import { isSilenceOnly, type Reading } from './expression.ts';
import {
  createFire,
  deliveriesOf,
  type FiringParts,
  mayFire,
  type PlannedFiring,
} from './firings.ts';
import { createKnownValues, type KnownValues, type SeenValues } from './known-values.ts';
import type { DeviceState } from './notification.ts';
import { firedState, freshState, isThrottled, judge, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { SilenceOutcome, Silences, Silent } from './silences.ts';

export interface NotifierParts extends FiringParts {
  readonly book: RuleBook;
  readonly datapoints: Pick<DatapointStore, 'lastValues'>;
  readonly evaluations: Evaluations;
  /** A state changed without a firing. */
  readonly onStateChanged: (rule: Rule, deviceId: DeviceId) => void;
}

/** Looks at rules when their sensors are pushed to, in push order, and lets them fire. */
export interface Notifier {
  /** The hook of the road in. */
  readonly consequences: Consequences;
  /** Looks at one sensor's last value now, whether it was looked at before or not. */
  evaluate(rule: Rule, device: Device, sensorId: SensorId): Promise<void>;
  /** Looks again at datapoints from before the start; what was fired for does not fire again. */
  catchUp(pushes: readonly Push[]): Promise<void>;
  silenceOf(silent: Silent): Promise<SilenceOutcome>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

/** One look at one rule. */
interface Look {
  readonly rule: Rule;
  readonly device: Device;
  readonly sensorId: SensorId;
  readonly reading: Reading;
  readonly value?: JsonValue;
  /** Our clock: windows and expiry go by it. */
  readonly at: Instant;
  /** The device's clock: `for` goes by it. */
  readonly time: Instant;
}

export function createNotifier(parts: NotifierParts, silences: () => Silences): Notifier {
  const { book, devices, datapoints, clock } = parts;
  const known = createKnownValues(datapoints);
  const plan = createPlanner(parts);
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const inTurn = createTurns();

  async function planPush(push: Push, isAgain: boolean): Promise<readonly PlannedFiring[]> {
    const found = devices.find(push.deviceId);
    const device = found instanceof Promise ? await found : found;
    const sensor = device && sensorOf(device, push.sensorId);
    if (device === undefined || sensor === undefined) return [];
    const rules = book.index.rulesOn(push.deviceId, push.sensorId, device.owner);
    const values = await valuesFor(rules, device, push.sensorId, known);
    const planned: PlannedFiring[] = [];
    for (const datapoint of push.datapoints) {
      const { value } = calibratedDatapoint(sensor, datapoint);
      const seen = { value, at: datapoint.receivedAt };
      values?.set(sensor.id, seen);
      silences().seen(device.id, sensor.id, seen.at);
      const own: SeenValues = values ?? new Map([[sensor.id, seen]]);
      for (const rule of rules) {
        if (isSilenceOnly(rule.expression)) continue;
        if (isAgain && wasLookedAt(rule, push, datapoint)) continue;
        const reading = readingOf(rule, own, seen.at);
        const time = orderTime(datapoint);
        const look = { rule, device, sensorId: sensor.id, reading, value, at: seen.at, time };
        const firing = plan(look);
        const one = firing instanceof Promise ? await firing : firing;
        if (one !== undefined) planned.push(one);
      }
    }
    return planned;
  }

  async function planAll(
    pushes: readonly Push[],
    isAgain: boolean,
  ): Promise<{ readonly fired: Promise<void>; readonly firing: ReadonlySet<Push> }> {
    const planned: PlannedFiring[] = [];
    const firing = new Set<Push>();
    for (const push of pushes) {
      const some = await planPush(push, isAgain);
      if (some.length > 0) firing.add(push);
      planned.push(...some);
    }
    // Not awaited here: the next batch is looked at meanwhile, and the store keeps the order.
    const fired = planned.length === 0 ? Promise.resolve() : fire(planned);
    fired.catch(() => undefined);
    inTurn.hold(fired);
    return { fired, firing };
  }

  async function silenceOf({ rule, deviceId, sensorId, seenAt }: Silent): Promise<SilenceOutcome> {
    return inTurn.run(async () => {
      const device = await devices.find(deviceId);
      if (device === undefined || sensorOf(device, sensorId) === undefined) return 'told';
      const values = await known.fetch(device);
      const heardAt = values.get(sensorId)?.at ?? seenAt;
      // Another process took a datapoint in meanwhile.
      if (heardAt > seenAt) {
        silences().seen(deviceId, sensorId, heardAt);
        return clock.now();
      }
      const at = clock.now();
      const reading = readingOf(rule, values, at);
      const planned = await plan({ rule, device, sensorId, reading, at, time: at });
      if (planned !== undefined) {
        const state = { ...planned.firing.state, silenceToldAt: seenAt };
        rule.states.set(deviceId, state);
        await fire([{ ...planned, firing: { ...planned.firing, state } }]);
        return 'told';
      }
      return isThrottled(rule, at) ? rule.lastFiredAt + rule.throttlingMs : 'told';
    });
  }

  return {
    consequences(pushes) {
      const concerned = pushes.filter(
        (push) => book.index.concerns(push.deviceId, push.sensorId) || known.has(push.deviceId),
      );
      if (concerned.length === 0) return undefined;
      const planned = inTurn.run(() => planAll(concerned, false));
      planned.catch(() => undefined);
      const watched = new Set(concerned);
      return pushes.map((push) =>
        watched.has(push)
          ? planned.then(({ fired, firing }) => (firing.has(push) ? fired : undefined))
          : undefined,
      );
    },
    evaluate: (rule, device, sensorId) =>
      inTurn.run(async () => {
        const values = await known.fetch(device);
        const seen = values.get(sensorId);
        if (seen === undefined) return;
        const at = clock.now();
        const reading = readingOf(rule, values, at);
        const { value } = seen;
        const planned = await plan({ rule, device, sensorId, reading, value, at, time: at });
        if (planned !== undefined) await fire([planned]);
      }),
    async catchUp(pushes) {
      const { fired } = await inTurn.run(() => planAll(pushes, true));
      await fired;
    },
    silenceOf,
    drain: () => inTurn.drain(),
  };
}

/** The values a rule may ask for beside the one that was pushed; undefined: none. */
function valuesFor(
  rules: readonly Rule[],
  device: Device,
  sensorId: SensorId,
  known: KnownValues,
): SeenValues | Promise<SeenValues> | undefined {
  const asksForOthers = rules.some(({ named }) => named.some((name) => name !== sensorId));
  return asksForOthers || known.has(device.id) ? known.of(device) : undefined;
}

/** Whether it had its turn before the service was started anew. */
function wasLookedAt(rule: Rule, push: Push, { receivedAt }: Datapoint): boolean {
  const firedFor = rule.states.get(push.deviceId)?.firedFor?.[push.sensorId];
  return (
    receivedAt <= rule.notification.modifiedAt || (firedFor !== undefined && receivedAt <= firedFor)
  );
}

function readingOf(rule: Rule, values: SeenValues, now: Instant): Reading {
  return {
    now,
    value: (sensorId) => values.get(sensorId)?.value,
    // A sensor that never sent anything is silent since the rule was made.
    seenAt: (sensorId) => values.get(sensorId)?.at ?? rule.notification.createdAt,
  };
}

/** Decides whether one look at a rule makes it fire, and notes what it came to. */
function createPlanner(
  parts: NotifierParts,
): (look: Look) => PlannedFiring | undefined | Promise<PlannedFiring | undefined> {
  const { evaluations, onStateChanged, channels } = parts;

  function note(look: Look, outcome: EvaluationOutcome) {
    const { rule, device, sensorId, value, at } = look;
    const given = value === undefined ? {} : { value };
    const evaluation = { at, deviceId: device.id, sensorId, ...given, outcome };
    evaluations.add(rule.notification.id, evaluation);
    return evaluation;
  }

  async function planFiring(look: Look, state: DeviceState): Promise<PlannedFiring | undefined> {
    const { rule, device, sensorId, reading, at } = look;
    if (!(await mayFire(parts, rule, device))) {
      note(look, 'no_right');
      return undefined;
    }
    const variables = { deviceId: device.id, sensorId, value: reading.value };
    const deliveries = deliveriesOf(rule, variables, { now: at, channels });
    const firedFor = { ...state.firedFor, [sensorId]: at };
    const after = { ...firedState(rule.expression, state), firedFor };
    const before = { state, lastFiredAt: rule.lastFiredAt };
    rule.states.set(device.id, after);
    rule.lastFiredAt = Math.max(rule.lastFiredAt, at);
    const { throttlingMs } = rule;
    const notificationId = rule.notification.id;
    const fields = { notificationId, deviceId: device.id, at, throttlingMs, deliveries };
    return { rule, before, evaluation: note(look, 'sent'), firing: { ...fields, state: after } };
  }

  return (look) => {
    const { rule, device, reading, at, time } = look;
    if (rule.notification.status !== 'active') {
      note(look, 'inactive');
      return undefined;
    }
    if (at > rule.expiresAt) {
      note(look, 'expired');
      return undefined;
    }
    const state = rule.states.get(device.id) ?? freshState;
    const judged = judge(rule.expression, state, reading, time);
    if (judged.state !== state) {
      rule.states.set(device.id, judged.state);
      onStateChanged(rule, device.id);
    }
    if (judged.verdict !== 'holds') {
      note(look, judged.verdict);
      return undefined;
    }
    if (isThrottled(rule, at)) {
      note(look, 'throttled');
      return undefined;
    }
    return planFiring(look, judged.state);
  };
}

/** Runs tasks one after the other; what is held counts as under way. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  const held = new Set<Promise<unknown>>();
  return {
    run<Result>(task: () => Promise<Result>): Promise<Result> {
      const run = last.then(task);
      last = run.catch(() => undefined);
      return run;
    },
    hold(work: Promise<unknown>): void {
      const settled: Promise<unknown> = work
        .catch(() => undefined)
        .finally(() => held.delete(settled));
      held.add(settled);
    },
    async drain(): Promise<void> {
      await last;
      while (held.size > 0) await Promise.all(held);
    },
  };
}
