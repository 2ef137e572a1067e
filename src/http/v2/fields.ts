import Type from 'typebox';
import type { Location, Visibility } from '../../domain/devices/device.ts';
import { invalid } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { visibilities } from '../../wire/device.ts';
import { parseLocation } from '../../wire/location.ts';
import { shortMetaCharacters, withShortMeta } from '../../wire/short-meta.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { type BareBody, bareJson, bareText } from '../body.ts';

/** For reads that show last values [contract 5]. */
export const valueParameters = {
  calibrated: Type.Optional(
    Type.Boolean({ default: true, description: 'false gives last values as they were pushed.' }),
  ),
};

/** Reads the options that `valueParameters` ask for. */
export const valueOptions = (query: { readonly calibrated?: boolean }) => ({
  isCalibrated: query.calibrated !== false,
});

/** For lists of devices: what is long in `meta` may be left out. */
export const metaParameter = {
  meta: Type.Optional(
    Type.Unsafe<'whole' | 'short'>({
      type: 'string',
      enum: ['whole', 'short'],
      default: 'whole',
      description:
        `short: texts directly in meta with more than ${shortMetaCharacters} characters are left ` +
        'out, so that a list of devices with photos stays light.',
    }),
  ),
};

/** The words that `metaParameter` asks for. */
export const metaSpelling = (
  { meta }: { readonly meta?: 'whole' | 'short' },
  spelling: Spelling,
): Spelling => (meta === 'short' ? withShortMeta(spelling) : spelling);

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

/** public or private. */
export function readVisibility(body: BareBody): Visibility {
  const text = requiredText(body).trim();
  const visibility = visibilities.find((word) => word === text);
  if (visibility === undefined) throw invalid('visibility must be public or private');
  return visibility;
}

/** A location, or undefined when the client sends a JSON null to remove it. */
export function readLocation(body: BareBody): Location | undefined {
  const value = bareJson(body);
  return value === null ? undefined : parseLocation(value);
}
