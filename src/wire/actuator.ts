import Type, { type Static } from 'typebox';
import { type Actuator, actuatorValueTypes } from '../domain/devices/actuator.ts';
import { settingTooLarge } from '../domain/devices/device.ts';
import { invalid } from '../domain/errors.ts';
import { parseActuatorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { parseDuration } from '../lib/duration.ts';
import type { JsonValue } from '../lib/json.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import {
  Anything,
  DateText,
  Id,
  Message,
  newMeta,
  OneOf,
  optional,
  Plain,
  Text,
  type Wire,
} from './fields.ts';
import { createReader } from './validation.ts';

const valueTypeText = 'What kind of value it takes.';

export const NewActuatorMessage = Message('NewActuator', {
  id: Id('The id of the actuator within its device.', 'pump'),
  ...optional({
    name: Text('Human-readable name.'),
    actuator_kind: Text('Kind of actuator.'),
    actuator_value_type: OneOf(actuatorValueTypes, valueTypeText),
    value_type: OneOf(actuatorValueTypes, 'Another spelling.'),
    value: Anything('What it is set to.'),
    meta: Anything('Anything you want to keep with it.'),
  }),
});

export const ActuatorMessage = Message('Actuator', {
  ...optional({
    actuator_value_type: OneOf(actuatorValueTypes, valueTypeText),
    value: Anything('What it is set to.'),
    actuator_kind: Text('Kind of actuator.'),
    name: Text('Human-readable name.'),
  }),
  id: Id('The id of the actuator within its device.', 'pump'),
  meta: Type.Optional(Anything('Anything you keep with it.')),
});

/** An actuator by itself, for those who may set it [contract 13]. */
export const SettableActuatorMessage = Message('SettableActuator', {
  ...ActuatorMessage.properties,
  ...optional({
    set_by: Plain('Who set it: a username, or guest.'),
    set_at: DateText('When it was set.'),
    confirmed_at: DateText('When the device said that it is as it was set.'),
    until: DateText('When it is set back.'),
  }),
});

export function actuatorFromWire(message: Static<typeof NewActuatorMessage>): Actuator {
  const { name, actuator_kind, value, meta } = message;
  const valueType = message.actuator_value_type ?? message.value_type;
  return defined({
    id: parseActuatorId(message.id),
    name,
    kind: actuator_kind,
    valueType,
    value: ifDefined(value, (value) => readActuatorValue(value as JsonValue)),
    ...newMeta(meta),
  });
}

export const readActuator = createReader(NewActuatorMessage, 'actuator', actuatorFromWire);

/** In the order of [contract 5]: sketches cut the value out of the text by its neighbours. */
export function actuatorToWire(actuator: Actuator): Wire<typeof ActuatorMessage> {
  const { id, name, kind, valueType, value, meta } = actuator;
  return defined({ actuator_value_type: valueType, value, actuator_kind: kind, name, id, meta });
}

/** With who set it and when, behind the id: an actuator whose setting the reader may see. */
export function settableActuatorToWire(actuator: Actuator): Wire<typeof SettableActuatorMessage> {
  const { meta, ...fields } = actuatorToWire(actuator);
  const { setBy, setAt, confirmedAt, revert } = actuator;
  return defined({
    ...fields,
    set_by: setBy,
    set_at: ifDefined(setAt, formatTimestamp),
    confirmed_at: ifDefined(confirmedAt, formatTimestamp),
    until: ifDefined(revert, (revert) => formatTimestamp(revert.at)),
    meta,
  });
}

/** The value of `{"value": …, "confirmed": true}` alone; undefined: the JSON is a value itself. */
export function readConfirmed(json: JsonValue): { readonly value: JsonValue } | undefined {
  if (!isRecord(json) || Object.keys(json).length !== 2 || json['confirmed'] !== true) {
    return undefined;
  }
  // Of a JSON object only JSON comes.
  return 'value' in json ? { value: json['value'] as JsonValue } : undefined;
}

/** For how long an actuator is to be set, such as 20m, in milliseconds. Throws invalid. */
export function readSettingTime(text: string): number {
  const ms = parseDuration(text);
  const { timedSettingMsMin: min, timedSettingMsMax: max } = limits;
  if (ms !== undefined && ms >= min && ms <= max) return ms;
  throw invalid('for must be a time of 1s to 366d, such as 90s, 20m, 2h or 1d');
}

/** Reads the value to set an actuator to: any JSON, bounded, as it is kept with its device. */
export function readActuatorValue(value: JsonValue): JsonValue {
  const problem = settingTooLarge(value);
  if (problem !== undefined) throw problem;
  return value;
}
