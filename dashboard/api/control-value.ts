import { parseExact, typedNumber } from './exact-json.ts';
import { exact } from './long-numbers.ts';
import type { Actuator } from './types.ts';

/** Which control an actuator gets. */
export type ControlKind = 'bool' | 'number' | 'string' | 'json';

/** By its declared type, else by what it is set to. */
export function controlKind(
  actuator: Pick<Actuator, 'actuator_value_type' | 'value'>,
): ControlKind {
  const declared = actuator.actuator_value_type;
  if (declared === 'bool' || declared === 'number' || declared === 'string') return declared;
  if (declared !== undefined) return 'json';
  const { value } = actuator;
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || value instanceof Number) return 'number';
  return typeof value === 'string' ? 'string' : 'json';
}

/** What stands in the field before anybody types. */
export function textOfValue(kind: ControlKind, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'string' && typeof value === 'string') return value;
  return exact.json(value);
}

/** What was typed as a value; undefined when it is none of its kind. */
export function parseControlText(
  kind: ControlKind,
  text: string,
): { readonly value: unknown } | undefined {
  if (kind === 'string') return { value: text };
  if (kind === 'number') {
    const number = typedNumber(text);
    return number === undefined ? undefined : { value: number };
  }
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}
