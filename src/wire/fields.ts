import Type, { type Static, type TSchema } from 'typebox';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { JsonValue } from '../lib/json.ts';
import { defined, ifDefined } from '../lib/record.ts';

/** A message of a schema as it is answered: nothing of it is changed any more. */
export type Wire<Schema extends TSchema> = Unchanged<Static<Schema>>;

type Unchanged<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Unchanged<Value[Key]> }
  : Value;

/** A free text such as a name or a unit. */
export const Text = (description: string, example?: string) =>
  Type.String(
    defined({
      description,
      maxLength: limits.nameCharactersMax,
      examples: ifDefined(example, (example) => [example]),
    }),
  );

/** Any JSON value. */
export const Anything = (description: string) => Type.Unknown({ description });

export const DateText = (description: string) =>
  Type.String({ description, format: 'date-time', examples: ['2016-06-08T18:20:27.873Z'] });

/** An end: a date alone is the end of that day in UTC. */
export const EndText = (description: string) =>
  Type.String({
    description: `${description} A date alone is the end of that day in UTC.`,
    maxLength: 64,
    examples: ['2030-01-31T12:00:00Z', '2030-01-31'],
  });

export const Id = (description: string, example: string) =>
  Type.String({
    description,
    minLength: 1,
    maxLength: limits.idCharactersMax,
    examples: [example],
  });

/** A word of the API itself, such as a scope: each version has its own. */
export const Word = (description?: string) =>
  Type.String(defined({ description, 'x-words': 'word' }));

/** A sentence of the service, in which each version uses its own words. */
export const Prose = (description: string) => Type.String({ description, 'x-words': 'prose' });

/** A text that is one of a few words. */
export const OneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], description });

/** The meta of a new thing; null is as absent, as in every optional field. */
export function newMeta(meta: unknown): { readonly meta?: JsonValue } {
  return meta === undefined || meta === null ? {} : { meta: readMeta(meta) };
}

/** A JSON value that people attach to a device or sensor; bounded, as it is kept with it. */
export function readMeta(meta: unknown): JsonValue {
  const bytes = Buffer.byteLength(JSON.stringify(meta) ?? '');
  if (bytes > limits.metaBytesMax) {
    throw invalid(`meta must have at most ${limits.metaBytesMax} bytes as JSON, got ${bytes}`);
  }
  return meta as JsonValue;
}
