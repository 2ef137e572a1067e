import type { JsonValue } from '../../lib/json.ts';
import { isJsonWithin } from '../../lib/json-size.ts';
import { type Actor, isImport } from '../actor.ts';
import { DomainError } from '../errors.ts';

/**
 * Whether the value is too large to be taken [contract 14]: more bytes as JSON text than
 * `bytesMax`. An administrator who imports brings what was stored elsewhere, whatever its size.
 */
export function isTooLarge(actor: Actor, value: JsonValue, bytesMax: number): boolean {
  return !isJsonWithin(value, bytesMax) && !isImport(actor);
}

/** The refusal of such a value; `where` says which of several it is. */
export function valueTooLarge(bytesMax: number, where: string): DomainError {
  return new DomainError(
    'too_large',
    `the value${where} has more than ${bytesMax} bytes as JSON text: send less at once; an ` +
      'administrator may raise KIPIMO_VALUE_BYTES_MAX',
  );
}
