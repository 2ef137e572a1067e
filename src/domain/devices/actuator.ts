import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { ActuatorId, Username } from '../ids.ts';

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
