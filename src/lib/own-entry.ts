/**
 * Reads the entry of a record under a key that may be anybody's text; undefined for entries that
 * every object inherits, such as "constructor".
 */
export function ownEntry<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  key: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
