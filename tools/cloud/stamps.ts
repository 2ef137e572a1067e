import type { Instant } from '../../src/lib/clock.ts';
import { cloudLimits } from './cloud-limits.ts';

/** Gives datapoints without a timestamp one, so that storing them again stores them once. */
export interface Stamps {
  /** To be told at each new order time, in ascending order. */
  begin(orderTime: Instant): void;
  /** The stamp of a value: when it was received, and a millisecond later for each twin. */
  stamp(receivedAt: Instant, value: string): Instant;
  /** Whether stamps from now on depend on nothing that was stamped before. */
  readonly isFresh: boolean;
}

/**
 * Stamps follow from the datapoints and their order alone, so a copy that is made again gives the
 * same ones. Values equal and received at the same time are twins, and are kept apart.
 */
export function createStamps(): Stamps {
  const stamped = new Map<string, Instant>();
  let latest = Number.NEGATIVE_INFINITY;
  return {
    begin(orderTime) {
      if (latest >= orderTime && stamped.size < cloudLimits.stampsMax) return;
      stamped.clear();
      latest = Number.NEGATIVE_INFINITY;
    },
    stamp(receivedAt, value) {
      const twin = stamped.get(value);
      const stamp = twin === undefined ? receivedAt : Math.max(receivedAt, twin + 1);
      stamped.set(value, stamp);
      latest = Math.max(latest, stamp);
      return stamp;
    },
    get isFresh() {
      return stamped.size === 0;
    },
  };
}
