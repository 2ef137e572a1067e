import type { Instant } from '../../lib/clock.ts';
import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { LongJson, writeJson } from '../../lib/long-json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';

/** Values of the variables in a message. */
export interface Variables {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  value(sensorId: string): JsonValue | undefined;
  /** When that was measured which it fires for, and how long before. */
  readonly measuredAt: Instant;
  readonly ageMs: number;
}

const variable = /(\$?)\{([^{}]{1,256})\}/g;

/**
 * Puts values in the place of variables [spec 2, contract 7]: `{id}` is the sensor, `${id}` the
 * device, `{TC1}` and `${TC1}` the last value of TC1; `{time}` is when it was measured and `{age}`
 * how long ago, unless a sensor has that name. What is unknown stays as it was written.
 */
export function fillMessage(template: string, variables: Variables): string {
  const filled = template.replace(variable, (written, dollar: string, name: string) => {
    if (name === 'id') return dollar === '' ? variables.sensorId : variables.deviceId;
    const value = variables.value(name);
    if (value === undefined && name === 'time') return formatTimestamp(variables.measuredAt);
    if (value === undefined && name === 'age') return ageText(variables.ageMs);
    return value === undefined ? written : textOf(value).slice(0, limits.variableCharactersMax);
  });
  return filled.slice(0, limits.messageCharactersMax);
}

/** A time in its two largest units: 2d 3h, 5m 20s, 0s. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0s';
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}

/** Fills the variables in every text of a value. */
export function fillValue(value: JsonValue, variables: Variables): JsonValue {
  if (typeof value === 'string') return fillMessage(value, variables);
  if (Array.isArray(value)) {
    const elements: readonly JsonValue[] = value;
    return elements.map((element) => fillValue(element, variables));
  }
  if (typeof value !== 'object' || value === null || isBigNumber(value)) return value;
  if (value instanceof LongJson) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, fillValue(field, variables)]),
  );
}

/** The names in a template that may be sensors. */
export function variablesIn(value: JsonValue): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...text.matchAll(variable)].flatMap(([, , name]) => (name === undefined ? [] : [name]));
}

function textOf(value: JsonValue): string {
  if (value instanceof LongJson && value.isString) {
    return value.beginning(6 * limits.variableCharactersMax);
  }
  return typeof value === 'string' ? value : writeJson(value);
}
