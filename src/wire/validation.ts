import type { Static, TObject, TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { Compile } from 'typebox/schema';
import { invalid } from '../domain/errors.ts';
import { isRecord } from '../lib/record.ts';

/** Checks a message against its schema and makes a value of it. Throws DomainError invalid. */
export interface Reader<Value> {
  (message: unknown): Value;
  readonly schema: TSchema;
}

/**
 * A reader for one message. Optional fields that are null are taken as absent, as clients in Go and
 * Python send them; unknown keys are ignored. `name` is what the message is called in errors;
 * `make` is handed the checked message, and it as it was sent.
 */
export function createReader<Schema extends TSchema, Value = Static<Schema>>(
  schema: Schema,
  name: string,
  make = (message: Static<Schema>, _sent: unknown) => message as Value,
): Reader<Value> {
  // Compiled at first use: start-up does not pay for messages that never come.
  let compiled: ReturnType<typeof Compile<Schema>> | undefined;
  const read = (sent: unknown): Value => {
    compiled ??= Compile(schema);
    const cleaned = withoutNulls(schema as SchemaNode, sent);
    if (compiled.Check(cleaned)) return make(cleaned as Static<Schema>, sent);
    const [, [error]] = compiled.Errors(cleaned);
    throw invalid(error === undefined ? `${name} is malformed` : describe(error, cleaned, name));
  };
  return Object.assign(read, { schema });
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly maxItems?: number;
}

function withoutNulls(schema: SchemaNode, value: unknown): unknown {
  if (schema.items !== undefined && Array.isArray(value)) {
    const { items, maxItems = value.length } = schema;
    // An excess of one element is refused as well as the whole array, and checked sooner.
    const looked = value.length > maxItems ? value.slice(0, maxItems + 1) : value;
    return looked.map((element) => withoutNulls(items, element));
  }
  if (schema.properties === undefined || !isRecord(value)) return value;
  const cleaned: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(value, key)) continue;
    const field = value[key];
    // A schema without a type takes any JSON value, null included.
    const isNothing = field === null && property.type !== undefined;
    if (isNothing && !schema.required?.includes(key)) continue;
    cleaned[key] = withoutNulls(property, field);
  }
  return cleaned;
}

function describe(error: TLocalizedValidationError, message: unknown, name: string): string {
  const path = readablePath(error.instancePath);
  if (error.keyword === 'required' && 'requiredProperties' in error.params) {
    const [missing] = error.params.requiredProperties as readonly string[];
    return `${path === '' ? name : path} must have the field ${missing}`;
  }
  if (error.keyword === 'enum' && 'allowedValues' in error.params) {
    const allowed = (error.params.allowedValues as readonly unknown[]).join(', ');
    return `${path || name} must be one of ${allowed}${got(error.instancePath, message)}`;
  }
  const given = got(error.instancePath, message);
  if (error.keyword === 'minLength' && given === ', got ""') {
    return `${path || name} must not be empty`;
  }
  return `${path || name} ${error.message}${given}`;
}

/** /sensors/2/id → sensors[2].id */
function readablePath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('');
}

function got(pointer: string, message: unknown): string {
  let value: unknown = message;
  for (const part of pointer.split('/').slice(1)) {
    value = isRecord(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  }
  // A password is shown to nobody, not even to its sender's log.
  if (value === undefined || /password$/.test(pointer)) return '';
  if (Array.isArray(value)) return ', got an array';
  return `, got ${isRecord(value) ? 'an object' : JSON.stringify(value).slice(0, 60)}`;
}

export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

interface QuerySchemaNode extends SchemaNode {
  readonly minLength?: number;
  readonly enum?: readonly string[];
  readonly items?: QuerySchemaNode;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Names that other services have for parameters of aggregates: ignored, an answer misleads. */
const others = { every: 'interval', agg: 'aggregate', aggregation: 'aggregate', tz: 'timezone' };

/**
 * Reads query parameters by their schema: integers, booleans, enums, strings, and lists. Integers
 * above the maximum are taken as the maximum [contract 5]; empty and unknown ones are ignored. A
 * string that has a least length is not: where more would be done without it, an empty one is a
 * mistake. A least length of 0 keeps it.
 */
export function readQuery<Schema extends TObject>(schema: Schema, raw: RawQuery): Static<Schema> {
  const query: Record<string, unknown> = {};
  const properties = schema.properties as Readonly<Record<string, QuerySchemaNode>>;
  for (const [other, name] of Object.entries(others)) {
    if (raw[other] === undefined || !('interval' in properties)) continue;
    throw invalid(`${other} is no parameter here: write ${name}`);
  }
  for (const [name, property] of Object.entries(properties)) {
    const given = raw[name];
    if (given === '' && (property.minLength ?? 0) > 0) {
      throw invalid(`${name} is empty: give it a value, or leave it out`);
    }
    if (given === undefined || (given === '' && property.minLength !== 0)) continue;
    if (property.type === 'array') {
      const list = readList(given, property.items?.enum !== undefined);
      if (list.length > 0) query[name] = list;
      continue;
    }
    if (typeof given !== 'string') throw invalid(`${name} is given ${given.length} times`);
    query[name] = readParameter(name, property, given);
  }
  return query as Static<Schema>;
}

/** Words may be joined by commas, too; ids are left whole, as they may have commas. */
const readList = (given: string | readonly string[], areWords: boolean): readonly string[] =>
  [given]
    .flat()
    .flatMap((text) => (areWords ? text.split(',') : text))
    .filter((text) => text !== '');

function readParameter(name: string, schema: QuerySchemaNode, text: string): unknown {
  if (schema.type === 'integer') return readInteger(name, schema, text);
  if (schema.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw invalid(`${name} must be true or false, got ${shown(text)}`);
  }
  return schema.enum === undefined ? text : readWord(name, schema.enum, text);
}

/** The word that the text is, one of these. */
export function readWord<Word extends string>(
  name: string,
  words: readonly Word[],
  text: string,
): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw invalid(`${name} must be one of ${words.join(', ')}, got ${shown(text)}`);
}

function readInteger(name: string, schema: QuerySchemaNode, text: string): number {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const value = /^-?\d{1,20}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum)) {
    throw invalid(`${name} must be a whole number from ${minimum}, got ${shown(text)}`);
  }
  return Math.min(value, maximum);
}

/** The part of a message that a refusal quotes. */
export const shown = (text: string): string => JSON.stringify(text.slice(0, 60));
