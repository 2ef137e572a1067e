import assert from 'node:assert/strict';
import type { ValueSchema } from './documented-operations.ts';

/** A message with one thing wrong with it, and what that is. */
export interface BadMessage {
  readonly what: string;
  readonly message: unknown;
}

const absent = Symbol('absent');

/**
 * The valid message with one of its fields made wrong at a time: every field of the schema, at any
 * depth, with every wrong type, a value out of bounds, and missing where it is required. Fails when
 * the schema has a field that the valid message lacks, so that no new field is forgotten.
 */
export function badMessages(schema: ValueSchema, valid: unknown): readonly BadMessage[] {
  return wrongParts(schema, valid, 'message').map(([what, message]) => ({ what, message }));
}

type Wrong = readonly [what: string, value: unknown];

function wrongParts(schema: ValueSchema, valid: unknown, place: string): readonly Wrong[] {
  const whole = wrongValues(schema).map((value): Wrong => [`${place} is ${shown(value)}`, value]);
  const inside: Wrong[] = [];
  if (schema.properties !== undefined) {
    for (const [key, property] of Object.entries(schema.properties)) {
      assert.ok(
        typeof valid === 'object' && valid !== null && Object.hasOwn(valid, key),
        `the valid ${place} of the test must have the field ${key}`,
      );
      const isRequired = schema.required?.includes(key) === true;
      const wrong = [
        ...wrongParts(property, Reflect.get(valid, key), `${place}.${key}`),
        ...(isRequired ? ([[`${place}.${key} is missing`, absent]] as const) : []),
        ...(isRequired && property.type !== undefined
          ? ([[`${place}.${key} is null`, null]] as const)
          : []),
      ];
      for (const [what, value] of wrong) inside.push([what, withField(valid, key, value)]);
    }
  }
  if (schema.items !== undefined && Array.isArray(valid)) {
    const [first, ...others] = valid;
    const wrong = [
      ...wrongParts(schema.items, first, `${place}[0]`),
      [`${place}[0] is null`, null],
    ];
    for (const [what, value] of wrong) inside.push([`${what}`, [value, ...others]]);
  }
  return [...whole, ...inside];
}

function withField(message: object, key: string, value: unknown): object {
  const { [key]: _, ...others } = message as Record<string, unknown>;
  return value === absent ? others : { ...others, [key]: value };
}

/** One value of every type of JSON, beside null, which counts as absent in optional fields. */
const samples: Readonly<Record<string, readonly unknown[]>> = {
  string: ['text'],
  number: [5, -1.5],
  boolean: [true],
  object: [{}, { value: 1 }],
  array: [[], [['x']]],
};

function wrongValues(schema: ValueSchema): readonly unknown[] {
  if (schema.type === undefined) return [];
  const types = [schema.type].flat();
  const known = types.map((type) => (type === 'integer' ? 'number' : type));
  const others = Object.entries(samples).filter(([type]) => !known.includes(type));
  return [
    ...others.flatMap(([, values]) => values),
    ...(schema.enum === undefined ? [] : ['nonsense', '']),
    ...(schema.format === 'date-time' ? ['yesterday', '2026-02-30T00:00:00Z', ''] : []),
    ...(schema.minLength === undefined ? [] : ['']),
    ...(schema.maxLength === undefined ? [] : ['x'.repeat(schema.maxLength + 1)]),
    ...(schema.minimum === undefined ? [] : [schema.minimum - 1]),
    ...(schema.maximum === undefined ? [] : [schema.maximum + 1]),
    ...(schema.maxItems === undefined ? [] : [Array(schema.maxItems + 1).fill('x')]),
  ];
}

const shown = (value: unknown) => (JSON.stringify(value) ?? 'absent').slice(0, 40);
