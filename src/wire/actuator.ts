import Type, { type Static } from 'typebox';
import { type Actuator, actuatorValueTypes } from '../domain/devices/actuator.ts';
import { invalid } from '../domain/errors.ts';
import { parseActuatorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { JsonValue } from '../lib/json.ts';
import { Anything, Id, newMeta, OneOf, Text } from './fields.ts';
import { createReader } from './validation.ts';

const valueTypeText = 'What kind of value it takes.';

export const NewActuatorMessage = Type.Object({
  id: Id('The id of the actuator within its device.', 'pump'),
  name: Type.Optional(Text('Human-readable name.')),
  actuator_kind: Type.Optional(Text('Kind of actuator.')),
  actuator_value_type: Type.Optional(OneOf(actuatorValueTypes, valueTypeText)),
  value_type: Type.Optional(OneOf(actuatorValueTypes, 'Another spelling.')),
  value: Type.Optional(Anything('What it is set to.')),
  meta: Type.Optional(Anything('Anything you want to keep with it.')),
});

export const ActuatorMessage = Type.Object({
  actuator_value_type: Type.Optional(OneOf(actuatorValueTypes, valueTypeText)),
  value: Type.Optional(Anything('What it is set to.')),
  actuator_kind: Type.Optional(Text('Kind of actuator.')),
  name: Type.Optional(Text('Human-readable name.')),
  id: Id('The id of the actuator within its device.', 'pump'),
  meta: Type.Optional(Anything('Anything you keep with it.')),
});

export const readNewActuator = createReader(NewActuatorMessage, 'actuator');

export function actuatorFromWire(message: Static<typeof NewActuatorMessage>): Actuator {
  const { name, actuator_kind, value, meta } = message;
  const valueType = message.actuator_value_type ?? message.value_type;
  return {
    id: parseActuatorId(message.id),
    ...(name !== undefined && { name }),
    ...(actuator_kind !== undefined && { kind: actuator_kind }),
    ...(valueType !== undefined && { valueType }),
    ...(value !== undefined && { value: readActuatorValue(value as JsonValue) }),
    ...newMeta(meta),
  };
}

/** In the order of [contract 5]: sketches cut the value out of the text by its neighbours. */
export function actuatorToWire(actuator: Actuator): object {
  const { id, name, kind, valueType, value, meta } = actuator;
  return {
    ...(valueType !== undefined && { actuator_value_type: valueType }),
    ...(value !== undefined && { value }),
    ...(kind !== undefined && { actuator_kind: kind }),
    ...(name !== undefined && { name }),
    id,
    ...(meta !== undefined && { meta }),
  };
}

/** What an actuator is to be set to: any JSON value, bounded, as it is kept with its device. */
export function readActuatorValue(value: JsonValue): JsonValue {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.actuatorValueBytesMax) return value;
  throw invalid(
    `the value must have at most ${limits.actuatorValueBytesMax} bytes as JSON, got ${bytes}`,
  );
}
