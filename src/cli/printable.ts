/**
 * Text of strangers for a terminal, as one line. Control characters could move the cursor, change
 * what was printed or be taken for input; so could characters that turn the direction of writing.
 */
export function printable(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]+/g, ' ').replace(/\p{C}/gu, '?');
}

/** The same for text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');
