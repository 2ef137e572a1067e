import type { Instant } from '../../../lib/clock.ts';
import { sameJson } from '../../../lib/long-json.ts';
import type { CorrectionBook } from '../corrections/correction-book.ts';
import { orderTime, type SensorRef } from '../datapoint.ts';
import type { DatapointStore } from '../datapoint-store.ts';
import type { HourTally, RetainedState } from './hours.ts';
import { type RetentionLimits, startOfDay } from './retention.ts';

/** Result of one step of retention. */
export interface RetentionStep {
  /** Datapoints, and hours, that went. */
  readonly datapoints: number;
  readonly hours: number;
  /** Hours that represent datapoints from now on, and did not before. */
  readonly hoursKept: number;
  /** How much less is stored, as quotas count it; less than 0: hours take more. */
  readonly bytes: number;
  /** Whether the sensor has corrections: what they removed may have gone. */
  readonly isCorrected?: boolean;
  /** wait: something must reach its place first; more: there is more to do. */
  readonly state: 'done' | 'more' | 'wait';
}

/** Takes what is older than its limits, and keeps what hours came to [contract 10]. */
export interface Retaining {
  /**
   * Does one small step, one commit: what goes, and the hours that stay for it. Hours are of what
   * corrections show; a correction that is about older datapoints alone goes with them. Last values
   * stay, and so do datapoints that a correction makes the last value of.
   */
  step(sensor: SensorRef, limits: RetentionLimits): Promise<RetentionStep>;
  /** How far it has come with a sensor; undefined: nothing was taken. */
  state(sensor: SensorRef): Promise<RetainedState | undefined>;
  /**
   * Adds hours that represent datapoints of another installation. missing: there is no such
   * sensor. Throws unavailable where the engine has no retention.
   */
  restore(
    sensor: SensorRef,
    state: RetainedState,
    hours: readonly HourTally[],
  ): Promise<'put' | 'missing'>;
}

/** `take` does what the engine does of a step. */
export function createRetaining(options: {
  readonly pushed: Pick<DatapointStore, 'lastValue'>;
  readonly datapoints: Pick<DatapointStore, 'lastValue'>;
  readonly book: Pick<CorrectionBook, 'isCorrected' | 'refresh'>;
  readonly take: (sensor: SensorRef, limits: RetentionLimits) => Promise<RetentionStep>;
  readonly state: Retaining['state'];
  readonly restore: Retaining['restore'];
}): Retaining {
  const { pushed, datapoints, book, take, state, restore } = options;

  /** Not what a corrected last value is made of. */
  async function keepsLast(sensor: SensorRef, rawBefore: Instant): Promise<Instant> {
    const [raw, shown] = [await pushed.lastValue(sensor), await datapoints.lastValue(sensor)];
    if (raw === undefined) return rawBefore;
    const isSame =
      shown !== undefined &&
      orderTime(shown) === orderTime(raw) &&
      sameJson(shown.value, raw.value);
    if (isSame) return rawBefore;
    return Math.min(rawBefore, startOfDay(Math.min(orderTime(raw), orderTime(shown ?? raw))));
  }

  return {
    ...{ state, restore },
    async step(sensor, limits) {
      if (limits.rawBefore === undefined || !book.isCorrected(sensor)) return take(sensor, limits);
      const rawBefore = await keepsLast(sensor, limits.rawBefore);
      try {
        return await take(sensor, { ...limits, rawBefore });
      } finally {
        await book.refresh(sensor);
      }
    },
  };
}
