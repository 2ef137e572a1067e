import { createHash } from 'node:crypto';

// PostgreSQL's text holds every character but U+0000. U+FFFF is none, so it can mark one.
const mark = '\uffff';
// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is what this is about.
const needsEscape = /[\u0000\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is what this is about.
const toEscape = /[\u0000\uffff]/g;
const escaped = /\uffff([01])/g;

/** A text as PostgreSQL can hold it: the same for nearly all, and never the same for two. */
export function escapeText(text: string): string {
  if (!needsEscape.test(text)) return text;
  return text.replaceAll(toEscape, (character) => (character === mark ? `${mark}1` : `${mark}0`));
}

/** The text that was escaped. */
export function unescapeText(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replaceAll(escaped, (_, which: string) => (which === '1' ? mark : '\u0000'));
}

/** A key in an index has fewer bytes than a third of a page. */
const keyBytesMax = 1_000;

/** The key of a text in a unique index: the text, or the hash of a text that is too long. */
export function indexKey(text: string): string {
  if (Buffer.byteLength(text) <= keyBytesMax) return `=${text}`;
  return `#${createHash('sha256').update(text).digest('base64')}`;
}
