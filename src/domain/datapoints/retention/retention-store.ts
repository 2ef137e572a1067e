import type { Instant } from '../../../lib/clock.ts';
import type { DeviceId, Username } from '../../ids.ts';
import type { SensorRef } from '../datapoint.ts';
import type { Retention, RetentionScope } from './retention.ts';

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
