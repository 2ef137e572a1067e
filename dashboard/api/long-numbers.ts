const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/;

type JsonText = (value: unknown, replacer?: null, space?: number) => string;

/** Writes a value as JSON, with all digits of its numbers in every browser. */
export const exact = { json: JSON.stringify as JsonText };

/** JSON with all digits of its numbers: few texts have any that a double cannot hold. */
export async function readJson(text: string): Promise<unknown> {
  if (longNumber.test(text)) return (await import('./exact-json.ts')).parseExact(text);
  return JSON.parse(text);
}

/** The same of an answer. One that was asked for early is parsed already. */
export async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return response.bodyUsed || longNumber.test(text) ? readJson(text) : response.json();
}
