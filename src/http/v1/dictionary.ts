/**
 * The words of version 1 [spec 9]. A Sensor of version 1 is a Device, and its Measurements are
 * Sensors; what a notification does is called its notification, not its action.
 */
const v1Words: Readonly<Record<string, string>> = {
  device: 'sensor',
  sensor: 'measurement',
  action: 'notification',
};

const v2Words: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(v1Words).map(([ofV2, ofV1]) => [ofV1, ofV2]),
);

// An underscore is part of a word: sensing_device and sensor_kind are words of both versions.
const v2Pattern = /\b(an )?(device|sensor|action)(?=(?:s|_ids?)?\b)/gi;
const v1Pattern = /\b(an )?(sensor|measurement|notification)(?=(?:s|_ids?)?\b)/gi;
/** A sentence, a path or a scope of version 2 in the words of version 1, all at once. */
export const textToV1 = (text: string): string => renamed(text, v2Pattern, v1Words);
/** A scope of version 1 in the words of version 2. */
export const textToV2 = (text: string): string => renamed(text, v1Pattern, v2Words);
const v2Key = /^(?:(?:device|sensor)(?:s|_ids?)?|action)$/;
/** The name of a field or parameter of version 2 in version 1; most are the same. */
export const keyToV1 = (key: string): string => (v2Key.test(key) ? textToV1(key) : key);

/** A path of version 2, with :parameters, in version 1. */
export const pathToV1 = (path: string): string =>
  path
    .split('/')
    .map((part) => (part.startsWith(':') ? `:${keyToV1(part.slice(1))}` : keyToV1(part)))
    .join('/');

/** The sentence with its own words renamed, and those that the client gave as they were. */
export function refusalToV1(sentence: string, given: readonly string[]): string {
  const kept = given.filter((text) => textToV1(text) !== text);
  if (kept.length === 0) return textToV1(sentence);
  const longestFirst = kept.toSorted((a, b) => b.length - a.length).map(quoted);
  return sentence
    .split(new RegExp(`(${longestFirst.join('|')})`))
    .map((part, index) => (index % 2 === 0 ? textToV1(part) : part))
    .join('');
}

/** The pattern of a text; an id that is itself a word has `id`, a kind or a quote before it. */
function quoted(text: string): string {
  const escaped = RegExp.escape(text);
  return v2Key.test(text) ? `(?<=\\b(?:id|device|sensor) |")${escaped}\\b` : escaped;
}

function renamed(text: string, pattern: RegExp, words: Readonly<Record<string, string>>): string {
  return text.replace(pattern, (_whole, article: string | undefined, word: string) => {
    const other = words[word.toLowerCase()] ?? word;
    const spelled = /^[A-Z]/.test(word) ? other.charAt(0).toUpperCase() + other.slice(1) : other;
    return article === undefined ? spelled : `${article.replace('n', '')}${spelled}`;
  });
}
