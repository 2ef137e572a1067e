import type { TSchema } from 'typebox';
import { defined, ifDefined, isRecord } from '../../lib/record.ts';
import { keyToV1, textToV1, textToV2 } from './dictionary.ts';
import { emptyFieldsOf } from './differences.ts';

/** A kind of message in version 1. What the schema leaves free is handed through untouched. */
export interface Renaming {
  readonly schema: TSchema;
  /** Whether messages are the same in both versions. */
  readonly isPlain: boolean;
  readonly toV1: (message: unknown) => unknown;
  readonly toV2: (message: unknown) => unknown;
}

/** The keywords of a schema that are read; all others are copied. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly 'x-words'?: 'word' | 'prose';
}

/** Where in a message there are words: the schema without its limits, all alternatives in one. */
interface RenamingNode {
  /** By its name in version 2. */
  readonly fields: ReadonlyMap<string, RenamingNode>;
  /** Names in version 2 by those in version 1. */
  readonly keys: ReadonlyMap<string, string>;
  readonly items: RenamingNode | undefined;
  readonly words: 'word' | 'prose' | undefined;
  /** Fields that version 1 answers as "" where they are absent. */
  readonly emptyFields: readonly string[];
  readonly isPlain: boolean;
}

/** Most schemas belong to several routes. */
const known = new WeakMap<TSchema, Renaming>();

/**
 * How messages of a schema of version 2 look in version 1: the schema says which keys are words.
 * The message alone does not: a datapoint may hold a key called sensors, which stays.
 */
export function renamingOf(schema: TSchema): Renaming {
  const renaming = known.get(schema) ?? createRenaming(schema);
  known.set(schema, renaming);
  return renaming;
}

function createRenaming(schema: TSchema): Renaming {
  const node = nodeOf(schema as SchemaNode);
  return {
    schema: schemaToV1(schema as SchemaNode) as TSchema,
    isPlain: node.isPlain,
    toV1: (message) => messageToV1(node, message),
    toV2: (message) => messageToV2(node, message),
  };
}

function nodeOf(schema: SchemaNode): RenamingNode {
  const fields = Object.entries(schema.properties ?? {});
  const own = completed({
    fields: new Map(fields.map(([key, field]) => [key, nodeOf(field)])),
    items: schema.items === undefined ? undefined : nodeOf(schema.items),
    words: schema['x-words'],
    emptyFields: emptyFieldsOf(schema.properties),
  });
  return (schema.anyOf ?? []).map(nodeOf).reduce(both, own);
}

/** Alternatives as one node, so that no message is renamed twice. */
function both(one: RenamingNode, other: RenamingNode): RenamingNode {
  const fields = new Map(one.fields);
  for (const [key, node] of other.fields) {
    const known = fields.get(key);
    fields.set(key, known === undefined ? node : both(known, node));
  }
  const items = [one.items, other.items].filter((node) => node !== undefined);
  const [first, second] = items;
  return completed({
    fields,
    items: first !== undefined && second !== undefined ? both(first, second) : first,
    words: one.words ?? other.words,
    emptyFields: [...new Set([...one.emptyFields, ...other.emptyFields])],
  });
}

function completed(node: Omit<RenamingNode, 'keys' | 'isPlain'>): RenamingNode {
  const { fields, items, words, emptyFields } = node;
  const keys = new Map([...fields.keys()].map((key) => [keyToV1(key), key]));
  const hasNoWords =
    words === undefined &&
    emptyFields.length === 0 &&
    items?.isPlain !== false &&
    fields.entries().every(([key, field]) => field.isPlain && keyToV1(key) === key);
  return { ...node, keys, isPlain: hasNoWords };
}

function messageToV1(node: RenamingNode, message: unknown): unknown {
  if (node.isPlain) return message;
  if (typeof message === 'string') return node.words === undefined ? message : textToV1(message);
  if (Array.isArray(message)) {
    const { items } = node;
    return items === undefined ? message : message.map((element) => messageToV1(items, element));
  }
  if (!isObject(message)) return message;
  const entries = Object.entries(message).map(([key, value]): [string, unknown] => {
    const field = node.fields.get(key);
    return field === undefined ? [key, value] : [keyToV1(key), messageToV1(field, value)];
  });
  const empty = node.emptyFields.map((key): [string, unknown] => [key, '']);
  // Behind the id; a key that comes again keeps its place and takes the later value.
  return Object.fromEntries([...entries.slice(0, 1), ...empty, ...entries.slice(1)]);
}

function messageToV2(node: RenamingNode, message: unknown): unknown {
  if (node.isPlain) return message;
  if (typeof message === 'string') return node.words === 'word' ? textToV2(message) : message;
  if (Array.isArray(message)) {
    const { items } = node;
    return items === undefined ? message : message.map((element) => messageToV2(items, element));
  }
  if (!isObject(message)) return message;
  const entries = Object.entries(message).flatMap(([name, value]): [string, unknown][] => {
    const key = node.keys.get(name);
    const field = key === undefined ? undefined : node.fields.get(key);
    // A name that version 2 alone knows is an unknown key here.
    if (key === undefined || field === undefined)
      return node.fields.has(name) ? [] : [[name, value]];
    const isNothing = value === '' && node.emptyFields.includes(key);
    return isNothing ? [] : [[key, messageToV2(field, value)]];
  });
  return Object.fromEntries(entries);
}

/** A number with many digits is an object too, but not one with fields. */
const isObject = (message: unknown): message is Readonly<Record<string, unknown>> =>
  isRecord(message) && !JSON.isRawJSON(message);

function schemaToV1(schema: SchemaNode): SchemaNode {
  const { properties, required, items, anyOf, description, examples } = schema;
  const empty = emptyFieldsOf(properties);
  return defined({
    ...schema,
    description: ifDefined(description, textToV1),
    examples: ifDefined(examples, (examples) => examples.map(exampleToV1)),
    items: ifDefined(items, schemaToV1),
    anyOf: ifDefined(anyOf, (anyOf) => anyOf.map(schemaToV1)),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, field]) => [
          keyToV1(key),
          empty.includes(key) ? orEmpty(schemaToV1(field)) : schemaToV1(field),
        ]),
      ),
    }),
    required: ifDefined(required, (required) => required.map(keyToV1)),
  });
}

function exampleToV1(example: unknown): unknown {
  return Array.isArray(example)
    ? example.map(exampleToV1)
    : typeof example === 'string'
      ? textToV1(example)
      : example;
}

const orEmpty = (field: SchemaNode): SchemaNode =>
  field.enum === undefined ? field : { ...field, enum: [...field.enum, ''] };
