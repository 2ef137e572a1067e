import { invalid } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { type BareBody, bareJson, bareText } from '../body.ts';

/** A name-like text; undefined when the client sends a JSON null to remove the field. */
export function optionalText(body: BareBody): string | undefined {
  const text = bareText(body);
  if (text !== undefined && text.length > limits.nameCharactersMax) {
    throw invalid(`the text must have at most ${limits.nameCharactersMax} characters`);
  }
  return text;
}

/** A text that cannot be removed. */
export function requiredText(body: BareBody): string {
  const text = optionalText(body);
  if (text === undefined) throw invalid('the body must be a text, not null');
  return text;
}

/** true, false, or undefined when the client sends a JSON null to remove the field. */
export function readFlag(name: string, body: BareBody): boolean | undefined {
  const value = bareJson(body);
  if (value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw invalid(`${name} must be true or false`);
}
