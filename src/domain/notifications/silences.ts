import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { oneOfEach } from '../../lib/scheduling/payer-queues.ts';
import type { Budget } from '../budgets/budget.ts';
import { createClockChecks } from '../clock-checks.ts';
import { DomainError, isFailureToStore } from '../errors.ts';
import type { DeviceId, NotificationId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { WantedValues } from '../members/wanted-values.ts';
import type { Evaluations } from './evaluations.ts';
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
}

/** No evaluation is of use until the sensor sends again. */
const reported = Number.POSITIVE_INFINITY;

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
  /** Answers when to evaluate again; undefined: the sensor has sent. */
  readonly onSilence: (silent: Silent) => Promise<Instant | undefined>;
  /** Called with the devices whose values end silences. */
  readonly count?: WantedValues['count'] | undefined;
}

export function createSilences(options: SilenceParts) {
  const { clock, log, budget, onSilence, count } = options;
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
      const nextAt = await onSilence({ rule: watched.rule, deviceId, sensorId, seenAt });
      if (nextAt === undefined) return;
      watched.notBefore = nextAt;
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

  async function lookAtAll(): Promise<void> {
    let due = findDue();
    while (due.length > 0) {
      // A few of each payer at a time: a thousand silences of one keep no other payer waiting.
      const byPayer = Map.groupBy(due, ([, { rule }]) => rule.payer);
      for (const [sensor, watched] of oneOfEach([...byPayer.values()], limits.silencesPerLook)) {
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
    nextAt = Number.POSITIVE_INFINITY;
    const due: [Sensor, Watched][] = [];
    for (const sensor of sensors.values()) {
      for (const watched of sensor.watched) {
        const deadline = deadlineOf(sensor, watched);
        if (deadline <= now) due.push([sensor, watched]);
        else nextAt = Math.min(nextAt, deadline);
      }
    }
    if (due.length > limits.silencesPerLook) nextAt = now;
    return due;
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
        const watched: Watched = { rule, durationMs, evaluatedAfter, notBefore: reported };
        sensor.watched.push(watched);
        count?.([deviceId], 1);
        nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
      }
    },
    forget(id: NotificationId) {
      for (const key of placesOf.get(id) ?? []) {
        const sensor = sensors.get(key);
        if (sensor === undefined) continue;
        const own = sensor.watched.filter(({ rule }) => rule.notification.id === id);
        for (const { rule } of own) {
          budget.release(rule.payer, 1);
          count?.([sensor.deviceId], -1);
        }
        sensor.watched = sensor.watched.filter((watched) => !own.includes(watched));
        if (sensor.watched.length === 0) sensors.delete(key);
      }
      placesOf.delete(id);
    },
    /** Whether a rule waits for the silence of the sensor. */
    isWatched: (deviceId: DeviceId, sensorId: SensorId): boolean =>
      sensors.has(keyOf(deviceId, sensorId)),
    /** A datapoint was received. */
    seen(deviceId: DeviceId, sensorId: SensorId, at: Instant) {
      const sensor = sensors.size === 0 ? undefined : sensors.get(keyOf(deviceId, sensorId));
      if (sensor === undefined) return;
      sensor.seenAt = Math.max(sensor.seenAt, at);
      for (const watched of sensor.watched) {
        watched.evaluatedAfter = undefined;
        nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
      }
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
