import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { DeviceId, NotificationId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { noteEvaluation } from './evaluations.ts';
import type { Rule } from './rule.ts';

/** A sensor whose silence a rule waits for. */
export interface Silent {
  readonly rule: Rule;
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** When it was last heard of, or the rule was made. */
  readonly seenAt: Instant;
}

/** told: until it is heard again. A time: look again then. */
export type SilenceOutcome = 'told' | Instant;

/** Waits until sensors have been silent for long: driven by time, one timer for all. */
export interface Silences {
  /** Where there is no room left, the log and the evaluations of the rule say so. */
  watch(silent: Silent, isTold: boolean): void;
  forget(id: NotificationId): void;
  /** A datapoint was received. */
  seen(deviceId: DeviceId, sensorId: SensorId, at: Instant): void;
  /** When the sensor was last heard of, as far as it is watched. */
  seenAt(deviceId: DeviceId, sensorId: SensorId): Instant | undefined;
  /** Looks at the clock now; resolves when every silence that is due was told. */
  tick(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

interface Watched {
  readonly rule: Rule;
  readonly durationMs: number;
  isTold: boolean;
  /** Not looked at before. */
  notBefore: Instant;
}

interface Sensor {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  seenAt: Instant;
  watched: Watched[];
}

export function createSilences(options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly onSilence: (silent: Silent) => Promise<SilenceOutcome>;
}): Silences {
  const { clock, log, onSilence } = options;
  const sensors = new Map<string, Sensor>();
  /** By owner. */
  const counts = new Map<string, number>();
  let count = 0;
  // A bound from below: datapoints only move deadlines away, so they need not touch it.
  let nextAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;

  const keyOf = (deviceId: DeviceId, sensorId: SensorId): string => `${deviceId} ${sensorId}`;

  function deadlineOf(sensor: Sensor, watched: Watched): Instant {
    if (watched.isTold) return Number.POSITIVE_INFINITY;
    return Math.max(sensor.seenAt + watched.durationMs, watched.notBefore);
  }

  async function tell(sensor: Sensor, watched: Watched): Promise<void> {
    const { deviceId, sensorId, seenAt } = sensor;
    watched.isTold = true;
    try {
      const outcome = await onSilence({ rule: watched.rule, deviceId, sensorId, seenAt });
      if (outcome === 'told') return;
      watched.notBefore = outcome;
    } catch (error) {
      log.error({ err: error }, 'a silence could not be told and is tried again');
      watched.notBefore = clock.now() + limits.silenceRetryMs;
    }
    watched.isTold = false;
    nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
  }

  async function lookAtAll(): Promise<void> {
    const now = clock.now();
    if (now < nextAt) return;
    nextAt = Number.POSITIVE_INFINITY;
    const due: [Sensor, Watched][] = [];
    for (const sensor of sensors.values()) {
      for (const watched of sensor.watched) {
        const deadline = deadlineOf(sensor, watched);
        if (deadline <= now) due.push([sensor, watched]);
        else nextAt = Math.min(nextAt, deadline);
      }
    }
    for (const [sensor, watched] of due) await tell(sensor, watched);
  }

  async function tick(): Promise<void> {
    while (ticking !== undefined) await ticking;
    ticking = lookAtAll().finally(() => {
      ticking = undefined;
    });
    await ticking;
  }

  function isFull(rule: Rule): boolean {
    const own = counts.get(ownerOf(rule)) ?? 0;
    return count >= limits.silencesMax || own >= limits.silencesPerUserMax;
  }

  function add(rule: Rule, by: number): void {
    const owner = ownerOf(rule);
    const own = (counts.get(owner) ?? 0) + by;
    if (own === 0) counts.delete(owner);
    else counts.set(owner, own);
    count += by;
  }

  /** Told rather than refused: a device may get the sensor long after the rule was made. */
  function tellFull({ rule, deviceId, sensorId }: Silent): void {
    noteEvaluation(rule, { at: clock.now(), deviceId, sensorId, outcome: 'not_watched' });
    const { id } = rule.notification;
    log.warn({ notificationId: id, deviceId, sensorId }, 'too many silences are waited for');
  }

  return {
    watch({ rule, deviceId, sensorId, seenAt }, isTold) {
      for (const silence of rule.expression.silences) {
        if (silence.sensorId !== sensorId) continue;
        if (isFull(rule)) {
          tellFull({ rule, deviceId, sensorId, seenAt });
          return;
        }
        const key = keyOf(deviceId, sensorId);
        const sensor = sensors.get(key) ?? { deviceId, sensorId, seenAt, watched: [] };
        sensors.set(key, sensor);
        const { durationMs } = silence;
        const watched = { rule, durationMs, isTold, notBefore: seenAt + durationMs };
        sensor.watched.push(watched);
        add(rule, 1);
        nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
      }
    },
    forget(id) {
      if (count === 0) return;
      for (const [key, sensor] of sensors) {
        const others = sensor.watched.filter(({ rule }) => rule.notification.id !== id);
        for (const { rule } of sensor.watched) if (rule.notification.id === id) add(rule, -1);
        sensor.watched = others;
        if (others.length === 0) sensors.delete(key);
      }
    },
    seen(deviceId, sensorId, at) {
      if (sensors.size === 0) return;
      const sensor = sensors.get(keyOf(deviceId, sensorId));
      if (sensor === undefined) return;
      sensor.seenAt = Math.max(sensor.seenAt, at);
      for (const watched of sensor.watched) {
        watched.isTold = false;
        nextAt = Math.min(nextAt, deadlineOf(sensor, watched));
      }
    },
    seenAt: (deviceId, sensorId) => sensors.get(keyOf(deviceId, sensorId))?.seenAt,
    tick,
    start() {
      timer = setInterval(() => {
        if (clock.now() >= nextAt && ticking === undefined) void tick();
      }, limits.clockCheckMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await ticking;
    },
  };
}

const ownerOf = ({ notification }: Rule): string => notification.owner.toLowerCase();
