/** Whether it is an object with fields: no array, not null. A number kept as its digits is one. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
