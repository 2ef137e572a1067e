/** Whether it is an object with fields: no array, not null. A number kept as its digits is one. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with these fields instead; a field that is undefined is left out. */
export function withChanges<Value extends object>(value: Value, changes: object): Value {
  const merged = Object.entries({ ...value, ...changes }).filter(
    ([, field]) => field !== undefined,
  );
  // The same fields with the same types: changes are typed by the caller's interface.
  return Object.fromEntries(merged) as Value;
}
