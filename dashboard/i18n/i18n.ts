import { computed, signal } from '@preact/signals';
import type { MessageKey, MessageTable } from './dictionary.ts';
import { firstWords } from './en/first-words.ts';
import { chooseLanguage, type Language } from './languages.ts';
import { createGrammar, fillMessage, type Grammar, type MessageParams } from './messages.ts';

/** How many files of a language are there: what home says; a device and the map; all others. */
export type Reach = 1 | 2 | 3;

interface Speech {
  readonly language: Language;
  readonly table: MessageTable;
  readonly grammar: Grammar;
  readonly reach: Reach;
}

/** What there is of English: it is there from the start with what home says. */
let english: MessageTable = firstWords;

interface Words {
  /** What home and the frame say. */
  readonly first: () => Promise<MessageTable>;
  /** What a device and the map say beside it. */
  readonly later: () => Promise<MessageTable>;
  readonly rest: () => Promise<MessageTable>;
}

/** What a file of words exports. */
const only = (module: object): MessageTable => Object.values(module)[0];

/** Each comes in three files of its own, when it is chosen. */
const loaders: Readonly<Record<Language, Words>> = {
  en: {
    first: () => Promise.resolve(firstWords),
    later: () => import('./en/later-words.ts').then(only),
    rest: () => import('./en/rest-words.ts').then(only),
  },
  fr: {
    first: () => import('./fr/first-words.ts').then(only),
    later: () => import('./fr/later-words.ts').then(only),
    rest: () => import('./fr/rest-words.ts').then(only),
  },
  sw: {
    first: () => import('./sw/first-words.ts').then(only),
    later: () => import('./sw/later-words.ts').then(only),
    rest: () => import('./sw/rest-words.ts').then(only),
  },
  pt: {
    first: () => import('./pt/first-words.ts').then(only),
    later: () => import('./pt/later-words.ts').then(only),
    rest: () => import('./pt/rest-words.ts').then(only),
  },
};

async function load(language: Language, reach: Reach): Promise<MessageTable> {
  const parts = Object.values(loaders[language]).slice(0, reach);
  const tables = await Promise.all(parts.map((part) => part()));
  const sections = new Set(tables.flatMap((table) => Object.keys(table)));
  const whole = Object.fromEntries(
    [...sections].map((section) => [
      section,
      Object.assign({}, ...tables.map((table) => table[section])),
    ]),
  );
  if (language === 'en') english = whole;
  return whole;
}

const speech = signal<Speech>({
  language: 'en',
  table: firstWords,
  grammar: createGrammar('en'),
  reach: 1,
});

/** The language shown now. */
export const language = computed<Language>(() => speech.value.language);

/** The text of a key in the language shown; a component that calls it follows the language. */
export function t(key: MessageKey, params: MessageParams = {}): string {
  const { table, grammar } = speech.value;
  const [section = '', name = ''] = key.split('.');
  const message = table[section]?.[name] ?? english[section]?.[name];
  return message === undefined ? key : fillMessage(message, grammar, params);
}

let latestChoice = 0;

/** Shows everything in a language from now on. When it cannot be fetched, all stays as it is. */
export const showLanguage = (wanted: Language): Promise<void> => show(wanted, 3);

/** The language of the first screen: what home needs of it is waited for. */
export const showFirst = (wanted: Language): Promise<void> => show(wanted, 1);

let widest: Reach = 1;

/** Resolves when the texts of a screen are there; what an earlier one asked for is not dropped. */
export const wordsFor = (reach: Reach): Promise<void> => {
  if (reach > widest) widest = reach;
  const { language: shown, reach: known } = speech.peek();
  return known >= widest ? Promise.resolve() : show(shown, widest);
};

async function show(wanted: Language, reach: Reach): Promise<void> {
  latestChoice += 1;
  const choice = latestChoice;
  const table = await load(wanted, reach);
  // Whoever taps two languages quickly gets the one tapped last.
  if (choice !== latestChoice) return;
  speech.value = { language: wanted, table, grammar: createGrammar(wanted), reach };
  if (typeof document !== 'undefined') document.documentElement.lang = wanted;
}

/** The language to begin with: the one chosen before, else the browser's. */
export function firstLanguage(chosen: string | null | undefined): Language {
  const ofBrowser = typeof navigator === 'undefined' ? [] : (navigator.languages ?? []);
  return chooseLanguage([chosen, ...ofBrowser]);
}
