import type { Clock, Instant } from '../../../lib/clock.ts';
import { yieldToEventLoop } from '../../../lib/event-loop.ts';
import type { Log } from '../../../lib/log.ts';
import { formatTimestamp } from '../../../lib/timestamp.ts';
import { limits } from '../../limits.ts';
import type { Reporter } from '../../reporter.ts';
import type { DatapointStore } from '../datapoint-store.ts';
import type { Retaining } from './retaining.ts';
import {
  limitsOf,
  type RetainedSensor,
  type Retention,
  type RetentionLimits,
  type RetentionStore,
  retentionLimits,
} from './retention.ts';

/** A sensor of which something is too old. */
interface Due {
  readonly sensor: RetainedSensor;
  readonly limits: RetentionLimits;
}

/** Goes through all sensors now and then, and takes what is too old. */
export function createRetentionRunner(options: {
  readonly store: RetentionStore;
  readonly retaining: Retaining;
  readonly pushedDatapoints: Pick<DatapointStore, 'count'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly reporter: Pick<Reporter, 'retentionStepped' | 'retentionRoundEnded'>;
  readonly ofService: Retention;
}) {
  const { store, retaining, clock, log, reporter, ofService, pushedDatapoints } = options;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let nextAt = Number.POSITIVE_INFINITY;
  /** No pass begins before this: an account that sets much keeps it busy for a part of the time. */
  let restsUntil = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  /** Sensors of which something is too old, in pages, with other work in between. */
  async function* dueSensors(now: Instant): AsyncGenerator<Due> {
    if (ofService.rawDays === undefined && !(await store.isAnySet())) return;
    for (let after = -1; !stopping.signal.aborted; ) {
      const page = { after, max: retentionLimits.retainedSensorsPerPage };
      const sensors = await store.sensors(page);
      for (const sensor of sensors) {
        after = sensor.number;
        const due = limitsOf(sensor.nearest?.retention ?? ofService, now);
        if (isDue(sensor, due)) yield { sensor, limits: due };
      }
      if (sensors.length < page.max) return;
      await yieldToEventLoop();
    }
  }

  /** Says what is about to go: one line for each pass that deletes anything. */
  async function announce(now: Instant): Promise<boolean> {
    let [sensors, datapoints, newest] = [0, 0, 0];
    for await (const { sensor, limits: due } of dueSensors(now)) {
      sensors += 1;
      newest = Math.max(newest, due.rawBefore ?? 0);
      if (due.rawBefore === undefined) continue;
      datapoints += await pushedDatapoints.count(sensor, { to: due.rawBefore - 1 });
      await yieldToEventLoop();
    }
    if (sensors === 0) return false;
    const before = formatTimestamp(newest);
    log.info({ sensors, datapoints, before }, 'retention deletes old datapoints');
    return true;
  }

  /** All steps of one sensor; the writer is left to others in between. */
  async function take({ sensor, limits: due }: Due): Promise<number> {
    let [datapoints, waited] = [0, 0];
    while (!stopping.signal.aborted) {
      const step = await retaining.step(sensor, due);
      datapoints += step.datapoints;
      reporter.retentionStepped(step);
      if (step.state === 'wait') waited += 1;
      if (step.state === 'done' || waited > retentionLimits.retentionWaitsMax) break;
      await rest();
    }
    return datapoints;
  }

  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, retentionLimits.retentionPauseMs);
    });

  async function pass(): Promise<void> {
    try {
      const now = clock.now();
      if (await announce(now)) {
        let datapoints = 0;
        for await (const due of dueSensors(now)) {
          datapoints += await take(due);
          await rest();
        }
        log.info({ datapoints }, 'retention has deleted old datapoints');
      }
      if (!stopping.signal.aborted) reporter.retentionRoundEnded(clock.now());
    } catch (error) {
      log.error({ err: error }, 'retention could not go on, and begins again later');
    }
  }

  function begin(): Promise<void> {
    const startedAt = clock.now();
    running ??= pass().finally(() => {
      running = undefined;
      const endedAt = clock.now();
      restsUntil = endedAt + retentionLimits.retentionRestsPerWork * (endedAt - startedAt);
    });
    return running;
  }

  function look(): void {
    const now = clock.now();
    // A clock that was set back by more than a pass.
    nextAt = Math.min(nextAt, now + retentionLimits.retentionPassMs);
    restsUntil = Math.min(restsUntil, now + retentionLimits.retentionPassMs);
    if (now < nextAt || now < restsUntil || running !== undefined) return;
    nextAt = now + retentionLimits.retentionPassMs;
    void begin();
  }

  return {
    start() {
      nextAt = clock.now() + retentionLimits.retentionStartMs;
      timer = setInterval(look, limits.clockCheckMs);
      timer.unref();
    },
    /** Something was set: the next pass is a few seconds away. */
    soon() {
      nextAt = Math.min(nextAt, clock.now() + retentionLimits.retentionSoonMs);
    },
    /** Runs one pass; resolves at its end, or when it was stopped or failed. */
    pass: begin,
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

function isDue(
  { oldest, oldestHour }: RetainedSensor,
  { rawBefore, hourlyBefore }: RetentionLimits,
): boolean {
  return (
    (oldest !== undefined && rawBefore !== undefined && oldest < rawBefore) ||
    (oldestHour !== undefined && hourlyBefore !== undefined && oldestHour < hourlyBefore)
  );
}
