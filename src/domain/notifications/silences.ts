import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { oneOfEach } from '../../lib/scheduling/payer-queues.ts';
import type { Budget } from '../budgets/budget.ts';
import { createClockChecks } from '../clock-checks.ts';
import { DomainError, isFailureToStore } from '../errors.ts';
import type { DeviceId, NotificationId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Evaluations } from './evaluations.ts';
import type { EvaluationStore } from './notification-store.ts';
import type { Rule } from './rule.ts';

/** A sensor whose silence a rule waits for. */
export interface Silent {
  readonly rule: Rule;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** When the sensor sent last, or the rule was made. */
  readonly seenAt: Instant;
}

/** Waits until sensors have been silent for long: driven by time, one timer for all. */
export type Silences = ReturnType<typeof createSilences>;

interface Watched {
  readonly rule: Rule;
  readonly durationMs: number;
  /** How often hearing was lost before it was evaluated last; undefined: not since it began. */
  evaluatedAfter: number | undefined;
  /** After that evaluation none is of use before. */
  notBefore: Instant;
  /** When other processes are asked whether they heard the sensor, though it was reported. */
  askAt: Instant;
}

/** No evaluation is of use until the sensor sends again. */
const reported = Number.POSITIVE_INFINITY;

/** A receipt so far ahead was dated by a wrong clock. */
const aheadMsMax = 60_000;
const askedAgainMsMin = 1_000;

interface Sensor {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  seenAt: Instant;
  watched: Watched[];
}

interface SilenceParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: Budget;
  readonly evaluations: Evaluations;
  /** Answers when to evaluate again; undefined: not until the sensor sends. */
  readonly onSilence: (silent: Silent) => Promise<Instant | undefined>;
  /**
   * When the sensors sent last, to whichever process; undefined: never. Absent: this process alone
   * hears them.
   */
  readonly heardAt?: EvaluationStore['heardAt'] | undefined;
}

export function createSilences(options: SilenceParts) {
  const { clock, log, budget, onSilence, heardAt } = options;
  const sensors = new Map<string, Sensor>();
  const hearing = createHearing(clock);
  /** Where each rule waits, so that one that goes is found without a search of all others. */
  const placesOf = new Map<NotificationId, Set<string>>();
  // A bound from below: datapoints only move deadlines away, so they need not touch it.
  let nextAt = Number.POSITIVE_INFINITY;
  let isStopped = false;
  const checks = createClockChecks(() => {
    if (hearing.stoodStill()) unheard();
    return clock.now() >= nextAt;
  }, lookAtAll);

  function deadlineOf(sensor: Sensor, watched: Watched): Instant {
    const dueAt = Math.max(sensor.seenAt, hearing.since()) + watched.durationMs;
    // After an outage the silence is another one: an evaluation that fired nothing may fire now,
    // and a `for` begins with it, whatever was waited for before.
    const isSame = watched.evaluatedAfter === hearing.timesLost();
    return isSame ? Math.max(dueAt, watched.notBefore) : dueAt;
  }

  async function tell(sensor: Sensor, watched: Watched): Promise<void> {
    const { deviceId, sensorId, seenAt } = sensor;
    watched.evaluatedAfter = hearing.timesLost();
    watched.notBefore = reported;
    try {
      const silent = { rule: watched.rule, deviceId, sensorId, seenAt };
      watched.notBefore = (await onSilence(silent)) ?? reported;
    } catch (error) {
      log.error({ err: error }, 'a silence could not be told and is tried again');
      if (error instanceof DomainError && isFailureToStore(error)) unheard();
      watched.evaluatedAfter = hearing.timesLost();
      watched.notBefore = clock.now() + limits.silenceRetryMs;
    }
    nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
  }

  function unheard(): void {
    hearing.lose();
    nextAt = Math.min(nextAt, hearing.since());
  }

  /** The sensor sent: silence begins anew. */
  function hear(sensor: Sensor, at: Instant): void {
    sensor.seenAt = Math.max(sensor.seenAt, at);
    for (const watched of sensor.watched) {
      watched.evaluatedAfter = undefined;
      nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
    }
  }

  async function lookAtAll(): Promise<void> {
    let due = findDue();
    while (due.length > 0) {
      // A few of each payer at a time: a thousand silences of one keep no other payer waiting.
      const byPayer = Map.groupBy(due, ([, { rule }]) => rule.payer);
      const some = oneOfEach([...byPayer.values()], limits.silencesPerLook);
      if (heardAt !== undefined) {
        const isKnown = await askOthers(options, some, hear);
        // What is due next is looked for anew.
        nextAt = clock.now() + (isKnown ? 0 : limits.silenceRetryMs);
        if (!isKnown) return;
      }
      for (const [sensor, watched] of some) {
        // Silences that are left are due at the next start.
        if (isStopped) return;
        if (deadlineOf(sensor, watched) <= clock.now()) await tell(sensor, watched);
      }
      due = due.length > limits.silencesPerLook ? findDue() : [];
    }
  }

  function findDue(): [Sensor, Watched][] {
    const now = clock.now();
    if (now < nextAt) return [];
    const found = dueAmong(sensors.values(), now, deadlineOf);
    nextAt = found.due.length > limits.silencesPerLook ? now : found.nextAt;
    return found.due;
  }

  return {
    /** Where the budget is used up, the log and the evaluations of the rule say so. */
    watch({ rule, deviceId, sensorId, seenAt }: Silent, { isTold }: { readonly isTold: boolean }) {
      for (const silence of rule.expression.silences) {
        if (silence.sensorId !== sensorId) continue;
        if (budget.take(rule.payer, 1) !== undefined) {
          tellFull(options, { rule, deviceId, sensorId, seenAt });
          return;
        }
        const key = keyOf(deviceId, sensorId);
        const places = placesOf.get(rule.notification.id) ?? new Set();
        placesOf.set(rule.notification.id, places.add(key));
        const sensor = sensors.get(key) ?? { deviceId, sensorId, seenAt, watched: [] };
        sensors.set(key, sensor);
        const { durationMs } = silence;
        const evaluatedAfter = isTold ? hearing.timesLost() : undefined;
        const askAt = nextAsk(options, silence);
        const watched: Watched = { rule, durationMs, evaluatedAfter, notBefore: reported, askAt };
        sensor.watched.push(watched);
        nextAt = Math.min(nextAt, deadlineOf(sensor, watched), askAt);
      }
    },
    forget(id: NotificationId) {
      for (const key of placesOf.get(id) ?? []) {
        const sensor = sensors.get(key);
        const byRule = Map.groupBy(
          sensor?.watched ?? [],
          ({ rule }) => rule.notification.id === id,
        );
        for (const { rule } of byRule.get(true) ?? []) budget.release(rule.payer, 1);
        if (sensor !== undefined) sensor.watched = byRule.get(false) ?? [];
        if (sensor?.watched.length === 0) sensors.delete(key);
      }
      placesOf.delete(id);
    },
    /** A datapoint was received. */
    seen(deviceId: DeviceId, sensorId: SensorId, at: Instant) {
      const sensor = sensors.size === 0 ? undefined : sensors.get(keyOf(deviceId, sensorId));
      if (sensor !== undefined) hear(sensor, at);
    },
    /** Evaluates the rule again at `at`, when time alone may change its outcome. */
    lookAgain(rule: Rule, deviceId: DeviceId, at: Instant) {
      for (const { sensorId } of rule.expression.silences) {
        const sensor = sensors.get(keyOf(deviceId, sensorId));
        for (const watched of sensor?.watched ?? []) {
          if (!sensor || watched.rule.notification.id !== rule.notification.id) continue;
          if (watched.notBefore !== reported) watched.notBefore = Math.min(watched.notBefore, at);
          nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
        }
      }
    },
    /** Silences count from then on at the earliest. */
    listensSince: hearing.since,
    /** Values that come now cannot be stored, for no fault of their devices. */
    unheard,
    /** Checks the clock now; resolves when every silence that is due was reported. */
    tick: checks.tick,
    start: checks.start,
    stop(): Promise<void> {
      isStopped = true;
      return checks.stop();
    },
  };
}

/** Another process may hear the sensor next, and end before it is silent again. */
const nextAsk = (
  { heardAt, clock }: SilenceParts,
  { durationMs }: Pick<Watched, 'durationMs'>,
): Instant =>
  heardAt === undefined ? reported : clock.now() + Math.max(durationMs, askedAgainMsMin);

/** Takes in what other processes heard; false: that cannot be read. */
async function askOthers(
  parts: SilenceParts,
  due: readonly (readonly [Sensor, Watched])[],
  hear: (sensor: Sensor, at: Instant) => void,
): Promise<boolean> {
  try {
    const heard = await parts.heardAt?.(due.map(([sensor]) => sensor));
    for (const [place, [sensor, watched]] of due.entries()) {
      const at = heard?.[place] ?? sensor.seenAt;
      if (at > sensor.seenAt && at <= parts.clock.now() + aheadMsMax) hear(sensor, at);
      watched.askAt = nextAsk(parts, watched);
    }
    return true;
  } catch (err) {
    parts.log.warn({ err }, 'it could not be read when sensors sent last');
    return false;
  }
}

/** Silences that are due, and when the next one is. */
function dueAmong(
  sensors: Iterable<Sensor>,
  now: Instant,
  deadlineOf: (sensor: Sensor, watched: Watched) => Instant,
) {
  const due: [Sensor, Watched][] = [];
  let nextAt = Number.POSITIVE_INFINITY;
  for (const sensor of sensors) {
    for (const watched of sensor.watched) {
      const deadline = Math.min(deadlineOf(sensor, watched), watched.askAt);
      if (deadline <= now) due.push([sensor, watched]);
      else nextAt = Math.min(nextAt, deadline);
    }
  }
  return { due, nextAt };
}

/** Reported rather than refused: a device may get the sensor long after the rule was made. */
function tellFull(parts: SilenceParts, { rule, deviceId, sensorId }: Silent): void {
  const { id } = rule.notification;
  const at = parts.clock.now();
  parts.evaluations.note(id, { at, deviceId, sensorId, outcome: 'not_watched' });
  parts.log.warn({ notificationId: id, deviceId, sensorId }, 'too many silences are waited for');
}

/** Since when sensors are heard: before, the service was away, stood still, or stored nothing. */
function createHearing(clock: Clock) {
  let since = clock.now();
  let timesLost = 0;
  let checkedAt = performance.now();
  return {
    since: () => since,
    timesLost: () => timesLost,
    lose(): void {
      since = clock.now();
      timesLost += 1;
    },
    stoodStill(): boolean {
      // Elapsed time: a clock that was set is no outage.
      const elapsedMs = performance.now() - checkedAt;
      checkedAt += elapsedMs;
      return elapsedMs > limits.silenceRetryMs;
    },
  };
}

const keyOf = (deviceId: DeviceId, sensorId: SensorId): string => `${deviceId} ${sensorId}`;
