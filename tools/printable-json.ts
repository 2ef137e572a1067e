/** A value as JSON in one line, with \u escapes for what a terminal could obey. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(/\p{C}/gu, (character) =>
    [...character]
      .flatMap((one) => Array.from({ length: one.length }, (_, at) => one.charCodeAt(at)))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
