import { channelLimits } from '../limits.ts';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** The text inside an element <Say>: escaped, without signs XML cannot hold, never cut in two. */
export function spoken(text: string, charactersMax: number): string {
  const clean = [...text.toWellFormed().replace(/[\p{Cc}\ufffe\uffff]+/gu, ' ')];
  let out = '';
  for (const letter of clean.slice(0, channelLimits.voiceCharactersMax)) {
    const written = escapes[letter] ?? letter;
    if (out.length + written.length > charactersMax) break;
    out += written;
  }
  return out;
}
