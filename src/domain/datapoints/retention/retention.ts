import type { Instant } from '../../../lib/clock.ts';
import type { DeviceId, SensorId, Username } from '../../ids.ts';

/** How many days datapoints are kept, and what hours come to after them; absent: for ever. */
export interface Retention {
  readonly rawDays?: number;
  readonly hourlyDays?: number;
}

/** Where a retention is set, but for the one of the service. */
export type RetentionScope =
  | { readonly kind: 'sensor'; readonly deviceId: DeviceId; readonly sensorId: SensorId }
  | { readonly kind: 'device'; readonly deviceId: DeviceId }
  | { readonly kind: 'user'; readonly username: Username };

/** Where a retention comes from: the nearest that is set [contract 10]. */
export type RetentionSource = RetentionScope['kind'] | 'service';

/** Length of a day, in ms. */
export const dayMs = 86_400_000;

/** Length of an hour, in ms. */
export const hourMs = 3_600_000;

/** The first instant of the day (UTC). */
export const startOfDay = (at: Instant): Instant => Math.floor(at / dayMs) * dayMs;

/** Times before which data goes; absent: nothing does. Both are the first instants of days. */
export interface RetentionLimits {
  readonly rawBefore?: Instant;
  readonly hourlyBefore?: Instant;
}

/**
 * Days are those of UTC and go as a whole, so that each hour goes as a whole: what is kept for a
 * day is kept until a day is over after the day it is of.
 */
export function limitsOf({ rawDays, hourlyDays }: Retention, now: Instant): RetentionLimits {
  if (rawDays === undefined) return {};
  const before = (days: number): Instant => startOfDay(now - days * dayMs);
  return {
    rawBefore: before(rawDays),
    ...(hourlyDays !== undefined && { hourlyBefore: before(Math.max(rawDays, hourlyDays)) }),
  };
}
