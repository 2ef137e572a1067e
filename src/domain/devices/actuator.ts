import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { sameJson } from '../../lib/long-json.ts';
import type { ActuatorId, DeviceId, Username } from '../ids.ts';

export const actuatorValueTypes = ['string', 'number', 'bool', 'null', 'object', 'array'] as const;
export type ActuatorValueType = (typeof actuatorValueTypes)[number];

/** Something of a device that can be set. */
export interface Actuator {
  readonly id: ActuatorId;
  readonly name?: string;
  readonly kind?: string;
  readonly valueType?: ActuatorValueType;
  /** Absent: never set. */
  readonly value?: JsonValue;
  readonly meta?: JsonValue;
  /** User who set the value; absent: it came with the description of the actuator. */
  readonly setBy?: Username;
  readonly setAt?: Instant;
  /** When the device said that it is as it was set. */
  readonly confirmedAt?: Instant;
  /** Value that the actuator is to be set back to, and when. */
  readonly revert?: { readonly at: Instant; readonly value: JsonValue };
}

/** The actuator for those who may not set it: without who set it, and until when. */
export function withoutSetting(actuator: Actuator): Actuator {
  const { setBy, setAt, confirmedAt, revert, ...others } = actuator;
  return others;
}

/** A field set to undefined is removed. */
export type ActuatorChanges = {
  readonly [Field in 'name' | 'kind' | 'valueType' | 'meta']?: Actuator[Field] | undefined;
};

/** An atomic change of the setting of an actuator [contract 13]. */
export type ActuatorStep =
  | {
      readonly kind: 'set';
      readonly value: JsonValue;
      readonly by: Username;
      readonly at: Instant;
      /** Set it back after this time; absent: it stays. */
      readonly forMs?: number;
    }
  /** The device says that it is as it was set. */
  | { readonly kind: 'confirm'; readonly value: JsonValue; readonly at: Instant }
  /** The setting for a while that lasts until then is over; any other one stays. */
  | { readonly kind: 'revert'; readonly until: Instant; readonly at: Instant };

/** Which actuator is to be set back, and when. */
export interface TimedSetting {
  readonly deviceId: DeviceId;
  readonly actuatorId: ActuatorId;
  readonly at: Instant;
}

/** The fields that a setting writes; a new description without a value keeps them. */
export const settingFields = ['value', 'setBy', 'setAt', 'confirmedAt', 'revert'] as const;

/** The actuator after the step; undefined: the step does not apply, and nothing changes. */
export function actuatorAfter(actuator: Actuator, step: ActuatorStep): Actuator | undefined {
  const { confirmedAt, revert, ...others } = actuator;
  switch (step.kind) {
    case 'set': {
      const { value, by, at, forMs } = step;
      const set = { ...others, value, setBy: by, setAt: at };
      if (forMs === undefined) return set;
      // A second setting for a while goes back to what was before the first one.
      const before = revert?.value ?? actuator.value ?? restingValueOf(value);
      return { ...set, revert: { at: at + forMs, value: before } };
    }
    case 'confirm':
      if (actuator.value === undefined || !sameJson(actuator.value, step.value)) return undefined;
      return { ...actuator, confirmedAt: step.at };
    case 'revert':
      if (revert?.at !== step.until) return undefined;
      return { ...others, value: revert.value, setAt: step.at };
  }
}

/** Value that an actuator never set before goes back to: off, zero, or nothing. */
function restingValueOf(value: JsonValue): JsonValue {
  if (typeof value === 'boolean') return false;
  return typeof value === 'number' ? 0 : null;
}
