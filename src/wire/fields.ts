import Type, {
  type Static,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
} from 'typebox';
import type { Location } from '../domain/devices/device.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { JsonValue } from '../lib/json.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import { createReader } from './validation.ts';

/** A message of a schema as it is answered: nothing of it is changed any more. */
export type Wire<Schema extends TSchema> = Unchanged<Static<Schema>>;

type Unchanged<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Unchanged<Value[Key]> }
  : Value;

/** A message with these fields, by its name in the reference. */
export const Message = <Fields extends TProperties>(
  title: string,
  fields: Fields,
  about: TObjectOptions = {},
) => Type.Object(fields, { title, ...about });

/** Fields that may be left out. */
export const optional = <Fields extends TProperties>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]),
    // Each field under its name.
  ) as { [Name in keyof Fields]: TOptional<Fields[Name]> };

/** A text that the service answers, or checks by hand. */
export const Plain = (description: string) => Type.String({ description });

/** A whole number. */
export const Whole = (description: string) => Type.Integer({ description });

/** true or false; `usual`: where it is left out. */
export const Flag = (description: string, usual?: boolean) =>
  Type.Boolean(defined({ default: usual, description }));

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

/** A text that is one of a few words; `usual`: where it is left out. */
export const OneOf = <const Words extends readonly string[]>(
  words: Words,
  description: string,
  usual?: Words[number],
) =>
  Type.Unsafe<Words[number]>(
    defined({ type: 'string', enum: [...words], default: usual, description }),
  );

/** Each value once, in the order given. */
export const distinct = <Value>(values: readonly Value[]): readonly Value[] => [...new Set(values)];

/** The fields that a null removes from a thing; `fields` has them by their names in the API. */
export const removedIn = (sent: unknown, fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => isRecord(sent) && sent[name] === null)
      .map(([, field]) => [field, undefined]),
  );

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

export const LocationMessage = Message(
  'Location',
  {
    latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north.' }),
    longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east.' }),
  },
  { description: 'Where the thing stands (WGS 84).' },
);

const readLocation = createReader(LocationMessage, 'location');

/** A location from a bare value: a JSON object, or the text `latitude,longitude` [contract 5]. */
export const parseLocation = (value: unknown): Location =>
  readLocation(typeof value === 'string' ? fromText(value) : value);

function fromText(text: string): Location {
  const match =
    /^\s*([-+]?\d{1,3}(?:\.\d{1,20})?)(?:\s*[,;]\s*|\s+)([-+]?\d{1,3}(?:\.\d{1,20})?)\s*$/.exec(
      text,
    );
  if (match === null) {
    throw invalid('location must be a JSON object or the text latitude,longitude such as 5.6,-0.2');
  }
  return { latitude: Number(match[1]), longitude: Number(match[2]) };
}
