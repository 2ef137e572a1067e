import type { Instant } from '../../../lib/clock.ts';
import type { DeviceId, SensorId, Username } from '../../ids.ts';
import type { SensorRef } from '../datapoint.ts';

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

/** A sensor with the nearest retention that is set for it, its device or its owner. */
export interface RetainedSensor extends SensorRef {
  /** Grows from one sensor to the next. */
  readonly number: number;
  readonly owner: Username;
  /** Times of the oldest datapoint, and of the oldest hour that represents some. */
  readonly oldest?: Instant;
  readonly oldestHour?: Instant;
  /** Absent: that of the service holds. */
  readonly nearest?: { readonly retention: Retention; readonly source: RetentionScope['kind'] };
}

/** Which sensors: all, those of an owner, or those of a device. */
export interface RetainedSelection {
  readonly owner?: Username;
  readonly deviceId?: DeviceId;
  /** Numbers after this one, at most `max` of them. */
  readonly after: number;
  readonly max: number;
}

/** Where retentions are kept. They go with what they are set for. */
export interface RetentionStore {
  find(scope: RetentionScope): Promise<Retention | undefined>;
  /** Undefined takes away what is set. missing: there is no such sensor, device or user. */
  put(scope: RetentionScope, retention: Retention | undefined): Promise<'put' | 'missing'>;
  /** Whether any is set. */
  isAnySet(): Promise<boolean>;
  /** Sensors in the order of their numbers. */
  sensors(selection: RetainedSelection): Promise<readonly RetainedSensor[]>;
}

/** The limits of retention, each with its unit and its reason. */
export const retentionLimits = {
  /** A hundred years: for longer there is for ever. */
  retentionDaysMax: 36_500,
  /** Sensors whose retention is read at once. */
  retainedSensorsPerPage: 500,
  /** After a start: a machine without a clock of its own has asked for the time by then. */
  retentionStartMs: 600_000,
  /** Between two passes over all sensors, and from a setting to the next one. */
  retentionPassMs: 3_600_000,
  retentionSoonMs: 5_000,
  /** After a pass: so many times as long as it took. */
  retentionRestsPerWork: 4,
  /** Between two steps of a pass: most of the writer's time is left for what arrives. */
  retentionPauseMs: 10,
  /** Pauses in which datapoints have not reached their place; then the next pass takes them. */
  retentionWaitsMax: 200,
} as const;
