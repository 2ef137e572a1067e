import type { JsonValue } from '../../lib/json.ts';
import type { ActuatorId } from '../ids.ts';

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
}

/** A field set to undefined is removed. */
export type ActuatorChanges = {
  readonly [Field in Exclude<keyof Actuator, 'id'>]?: Actuator[Field] | undefined;
};
