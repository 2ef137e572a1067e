import type { Actuator } from '../../api/types.ts';

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
  if (typeof value === 'number') return 'number';
  return typeof value === 'string' ? 'string' : 'json';
}

/** What stands in the field before anybody types. */
export function textOfValue(kind: ControlKind, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'string' && typeof value === 'string') return value;
  return JSON.stringify(value) ?? '';
}

/** What was typed as a value; undefined when it is none of its kind. */
export function parseControlText(
  kind: ControlKind,
  text: string,
): { readonly value: unknown } | undefined {
  if (kind === 'string') return { value: text };
  if (kind === 'number') {
    const number = parseNumber(text);
    return number === undefined ? undefined : { value: number };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** A number as people type it: with a point or a comma. */
export function parseNumber(text: string): number | undefined {
  const plain = text.trim().replace(',', '.');
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : undefined;
}

/** A test value as people type it: a number, JSON, or else a text. */
export function parseLoosely(text: string): unknown {
  const trimmed = text.trim();
  const number = parseNumber(trimmed);
  if (number !== undefined) return number;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return trimmed;
  }
}
