/** The entry of a key that may be anybody's text; undefined for inherited ones: "constructor". */
export function ownEntry<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  key: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
