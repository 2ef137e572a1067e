/** Whether it is an object with fields: no array, not null. A number kept as its digits is one. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields of an object of ours: one that may be undefined is optional. */
type Defined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
    Fields[Key],
    undefined
  >;
};

/** The object without those of its fields that are undefined, in their order. */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields> {
  const kept: Partial<Fields> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  // Only what is undefined was left out.
  return kept as unknown as Defined<Fields>;
}

/** Makes something of a value where there is one. */
export const ifDefined = <Value, Made>(
  value: Value | undefined,
  make: (value: Value) => Made,
): Made | undefined => (value === undefined ? undefined : make(value));
