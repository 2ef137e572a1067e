import type { Instant } from '../../lib/clock.ts';
import { othersRan } from '../../lib/event-loop.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Consequences } from '../datapoints/consequences.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { DatapointStore, Push } from '../datapoints/datapoint-store.ts';
import { calibratedDatapoint } from '../datapoints/history.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { Sensor } from '../devices/sensor.ts';
import type { SensorId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { isSilenceOnly, type Reading } from './expression.ts';
import { createFire, type PlannedFiring } from './firings.ts';
import { createKnownValues, type KnownValues, type SeenValues } from './known-values.ts';
import { createNotes, createPlanner, type Notes, type PlannerParts } from './planner.ts';
import { freshState, hasFiredFor, isThrottled, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { SilenceOutcome, Silences, Silent } from './silences.ts';

export interface NotifierParts extends PlannerParts {
  readonly book: RuleBook;
  readonly datapoints: Pick<DatapointStore, 'lastValues'>;
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
  /** Tries again to store firings that could not be stored. */
  retry(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

type Planned = readonly PlannedFiring[];
const nothing: Planned = [];

/** What a batch of pushes led to: the firings on their way, and the pushes that wait for them. */
interface Fired {
  readonly fired: Promise<void> | undefined;
  readonly firing: ReadonlySet<Push>;
}

/** One push, and what it takes to look at it. */
interface Task {
  readonly push: Push;
  readonly isAgain: boolean;
  readonly device: Device;
  readonly sensor: Sensor;
  readonly rules: readonly Rule[];
  readonly values: SeenValues | undefined;
}

/** One datapoint, ready to be looked at. */
interface Begun {
  readonly values: SeenValues;
  readonly value: JsonValue;
  readonly shared: Reading;
  readonly notes: Notes;
}

export function createNotifier(parts: NotifierParts, silences: () => Silences): Notifier {
  const { book, devices, datapoints, clock } = parts;
  const known = createKnownValues(datapoints);
  const plan = createPlanner(parts);
  const fire = createFire({ ...parts, onGone: (rule) => book.remove(rule.notification.id) });
  const inTurn = createTurns();

  /** Answers at once when nothing has to be fetched or asked, as for most pushes. */
  function planPush(push: Push, isAgain: boolean): Planned | Promise<Planned> {
    const found = devices.find(push.deviceId);
    return found instanceof Promise
      ? found.then((device) => planOn(device, push, isAgain))
      : planOn(found, push, isAgain);
  }

  function planOn(
    device: Device | undefined,
    push: Push,
    isAgain: boolean,
  ): Planned | Promise<Planned> {
    const sensor = device && sensorOf(device, push.sensorId);
    if (device === undefined || sensor === undefined) return nothing;
    const rules = book.index.rulesOn(push.deviceId, push.sensorId, ownerFor(device));
    const values = valuesFor(rules, device, push.sensorId, known);
    const task = { push, isAgain, device, sensor, rules };
    return values instanceof Promise
      ? values.then((fetched) => lookFrom({ ...task, values: fetched }, 0, []))
      : lookFrom({ ...task, values }, 0, []);
  }

  /** Datapoint by datapoint, rule by rule; goes on later where a right has to be asked for. */
  function lookFrom(
    task: Task,
    start: number,
    planned: PlannedFiring[],
  ): Planned | Promise<Planned> {
    const { push, device, sensor, rules } = task;
    const count = rules.length;
    // Nobody looks at those in between: what is known of the sensor is its last one.
    const latest = push.datapoints.at(-1);
    if (count === 0 && latest !== undefined) begin(task, latest);
    const end = push.datapoints.length * count;
    let begun: Begun | undefined;
    for (let at = start; at < end; at += 1) {
      const datapoint = push.datapoints[Math.floor(at / count)];
      const rule = rules[at % count];
      if (datapoint === undefined || rule === undefined) break;
      if (begun === undefined || at % count === 0) begun = begin(task, datapoint);
      if (at > start && at % limits.datapointsPerTurn === 0) {
        return othersRan().then(() => lookFrom(task, at, planned));
      }
      if (isSilenceOnly(rule.expression)) continue;
      if (task.isAgain && wasLookedAt(rule, push, datapoint)) continue;
      const { values, value, shared } = begun;
      const hasSilence = rule.expression.silences.length > 0;
      const reading = hasSilence ? readingOf(rule, values, shared.now) : shared;
      const time = orderTime(datapoint);
      const seen = { sensorId: sensor.id, reading, value, datapoint, at: shared.now, time };
      const firing = plan({ rule, device, ...seen }, begun.notes);
      if (firing === undefined) continue;
      return firing.then((one) => {
        if (one !== undefined) planned.push(one);
        return lookFrom(task, at + 1, planned);
      });
    }
    return planned;
  }

  function begin({ push, sensor, device, values }: Task, datapoint: Datapoint): Begun {
    const { value } = calibratedDatapoint(sensor, datapoint);
    const now = datapoint.receivedAt;
    const seen = { value, at: now };
    values?.set(sensor.id, seen);
    silences().seen(push.deviceId, sensor.id, now);
    const all: SeenValues = values ?? new Map([[sensor.id, seen]]);
    const shared: Reading = {
      now,
      value: (sensorId) => all.get(sensorId)?.value,
      seenAt: (sensorId) => all.get(sensorId)?.at,
    };
    const notes = createNotes({ at: now, deviceId: device.id, sensorId: sensor.id, value });
    return { values: all, value, shared, notes };
  }

  function planAll(pushes: readonly Push[], isAgain: boolean): Fired | Promise<Fired> {
    const planned: PlannedFiring[] = [];
    const firing = new Set<Push>();
    const add = (push: Push, some: Planned): void => {
      if (some.length === 0) return;
      firing.add(push);
      planned.push(...some);
    };
    for (const [index, push] of pushes.entries()) {
      const some = planPush(push, isAgain);
      if (some instanceof Promise) return goOn(pushes.slice(index), some);
      add(push, some);
    }
    return finish();

    async function goOn(rest: readonly Push[], first: Promise<Planned>): Promise<Fired> {
      for (const [index, push] of rest.entries()) {
        add(push, await (index === 0 ? first : planPush(push, isAgain)));
      }
      return finish();
    }

    function finish(): Fired {
      // Not awaited here: the next batch is looked at meanwhile, and the store keeps the order.
      const fired = planned.length === 0 ? undefined : fire(planned);
      if (fired !== undefined) inTurn.hold(fired);
      return { fired, firing };
    }
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
      const notes = createNotes({ at, deviceId, sensorId });
      const planned = await plan({ rule, device, sensorId, reading, at, time: at }, notes);
      if (planned !== undefined) {
        const state = { ...planned.firing.state, silenceToldAt: seenAt };
        rule.states.set(deviceId, state);
        const told = { ...planned, firing: { ...planned.firing, state } };
        await fire([told], { isRepeatedByCaller: true });
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
      const planned = inTurn.runSoon(() => planAll(concerned, false));
      if (!(planned instanceof Promise)) {
        const { fired, firing } = planned;
        return fired && pushes.map((push) => (firing.has(push) ? fired : undefined));
      }
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
        const notes = createNotes({ at, deviceId: device.id, sensorId, value });
        const planned = await plan({ rule, device, sensorId, reading, value, at, time: at }, notes);
        if (planned !== undefined) await fire([planned]);
      }),
    async catchUp(pushes) {
      const { fired } = await inTurn.run(async () => planAll(pushes, true));
      await fired;
    },
    silenceOf,
    retry: () => fire.retry(),
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

/** Whose rules for all devices look at it: nobody's until its owner accepted it [contract 14]. */
const ownerFor = ({ owner, isPending }: Device): Username | undefined =>
  isPending === true ? undefined : owner;

/** Whether it had its turn before the service was started anew. */
function wasLookedAt(rule: Rule, { deviceId, sensorId }: Push, datapoint: Datapoint): boolean {
  if (datapoint.receivedAt <= rule.notification.modifiedAt) return true;
  return hasFiredFor(rule.states.get(deviceId) ?? freshState, sensorId, datapoint);
}

function readingOf(rule: Rule, values: SeenValues, now: Instant): Reading {
  return {
    now,
    value: (sensorId) => values.get(sensorId)?.value,
    // A sensor that never sent anything is silent since the rule was made.
    seenAt: (sensorId) => values.get(sensorId)?.at ?? rule.notification.createdAt,
  };
}

/** Runs tasks one after the other; what is held counts as under way. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const held = new Set<Promise<unknown>>();

  function follow<Result>(run: Promise<Result>): Promise<Result> {
    waiting += 1;
    last = run
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
    return run;
  }

  return {
    run: <Result>(task: () => Promise<Result>): Promise<Result> => follow(last.then(task)),
    /** At once, if nothing is under way. */
    runSoon<Result>(task: () => Result | Promise<Result>): Result | Promise<Result> {
      if (waiting > 0) return follow(last.then(task));
      const result = task();
      return result instanceof Promise ? follow(result) : result;
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
