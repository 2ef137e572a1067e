/** Parameters of a request. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** A query string with its question mark; what is undefined or empty is left out. */
export function queryText(query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
