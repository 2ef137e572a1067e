import { channelLimits } from '../limits.ts';

/** How the letters of a text message travel. */
export type Alphabet = 'gsm' | 'ucs2';

/** Letters of the GSM 7-bit default alphabet, and those that take two places [3GPP TS 23.038]. */
const single =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡' +
  'ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const double = '\f^{}\\[~]|€';
const isSingle: ReadonlySet<string> = new Set(single);
const isDouble: ReadonlySet<string> = new Set(double);
/** Places of one message alone, and of one part of several with its header [3GPP TS 23.040]. */
const capacity = { gsm: { alone: 160, part: 153 }, ucs2: { alone: 70, part: 67 } } as const;

/** Whether every letter is in the GSM alphabet; one that is not makes the whole text UCS-2. */
export function alphabetOf(text: string): Alphabet {
  for (const letter of text) if (!isSingle.has(letter) && !isDouble.has(letter)) return 'ucs2';
  return 'gsm';
}

/** The text as the parts that a phone joins again; a letter is never torn. */
export function partsOf(text: string): { readonly alphabet: Alphabet; readonly parts: string[] } {
  const alphabet = alphabetOf(text);
  const { alone, part } = capacity[alphabet];
  const whole = split(text, alphabet, alone);
  return { alphabet, parts: whole.length === 1 ? whole : split(text, alphabet, part) };
}

function split(text: string, alphabet: Alphabet, capacityOfPart: number): string[] {
  const parts: string[] = [];
  let current = '';
  let used = 0;
  for (const letter of text) {
    const places = alphabet === 'gsm' ? (isDouble.has(letter) ? 2 : 1) : letter.length;
    if (used + places > capacityOfPart) {
      parts.push(current);
      current = '';
      used = 0;
    }
    current += letter;
    used += places;
  }
  return [...parts, current];
}

/** Typographic signs and their plain cousins: one curly quote would halve what a part holds. */
const plainSigns: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '…': '...',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\t': ' ',
};

/** The text without control signs, shortened to the parts that one message may cost. */
export function cutToParts(text: string): string {
  const clean = plain(
    text
      .toWellFormed()
      .replace(/\r\n?/g, '\n')
      .replace(/[^\P{Cc}\n\t]/gu, ''),
  );
  const { alphabet, parts } = partsOf(clean);
  if (parts.length <= channelLimits.smsPartsMax) return clean;
  // The ellipsis of GSM texts is three dots: "…" alone would make all of it UCS-2.
  const end = alphabet === 'gsm' ? '...' : '…';
  const kept = parts.slice(0, channelLimits.smsPartsMax);
  const last = [...(kept.at(-1) ?? '')];
  // Extended letters take two places, so the end may displace fewer letters than it has.
  return `${kept.slice(0, -1).join('')}${last.slice(0, -end.length).join('')}${end}`;
}

/** With plain signs where that brings all of the text into the GSM alphabet. */
function plain(text: string): string {
  const folded = [...text].map((letter) => plainSigns[letter] ?? letter).join('');
  return alphabetOf(folded) === 'gsm' ? folded : text.replaceAll('\t', ' ');
}
