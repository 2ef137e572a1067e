import { computed, signal } from '@preact/signals';
import type { MessageKey, MessageTable } from './dictionary.ts';
import { firstWords } from './en/first-words.ts';
import { chooseLanguage, type Language } from './languages.ts';
import { createGrammar, fillMessage, type Grammar, type MessageParams } from './messages.ts';

interface Speech {
  readonly language: Language;
  readonly table: MessageTable;
  readonly grammar: Grammar;
  /** Absent: what home says is there, and nothing else. */
  readonly isWhole?: true;
}

/** What there is of English: it is there from the start with what home says. */
let english: MessageTable = firstWords;

interface Words {
  /** What home and the frame say. */
  readonly first: () => Promise<MessageTable>;
  readonly later: () => Promise<MessageTable>;
}

/** Each comes in two files of its own, when it is chosen. */
const loaders: Readonly<Record<Language, Words>> = {
  en: {
    first: () => Promise.resolve(firstWords),
    later: () => import('./en/later-words.ts').then(({ laterWords }) => laterWords),
  },
  fr: {
    first: () => import('./fr/first-words.ts').then((module) => module.firstWords),
    later: () => import('./fr/later-words.ts').then(({ laterWords }) => laterWords),
  },
  sw: {
    first: () => import('./sw/first-words.ts').then((module) => module.firstWords),
    later: () => import('./sw/later-words.ts').then(({ laterWords }) => laterWords),
  },
  pt: {
    first: () => import('./pt/first-words.ts').then((module) => module.firstWords),
    later: () => import('./pt/later-words.ts').then(({ laterWords }) => laterWords),
  },
};

async function loadWhole(language: Language): Promise<MessageTable> {
  const { first, later } = loaders[language];
  const [one, other] = await Promise.all([first(), later()]);
  const both = Object.keys({ ...one, ...other });
  const table = Object.fromEntries(
    both.map((section) => [section, { ...one[section], ...other[section] }]),
  );
  if (language === 'en') english = table;
  return table;
}

const speech = signal<Speech>({ language: 'en', table: firstWords, grammar: createGrammar('en') });

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
export const showLanguage = (wanted: Language): Promise<void> => show(wanted, true);

/** The language of the first screen: what home needs of it is waited for. */
export const showFirst = (wanted: Language): Promise<void> => show(wanted, false);

/** Resolves when all texts of the language shown are there, for screens that say more than home. */
export const allWords = (): Promise<void> =>
  speech.peek().isWhole === true ? Promise.resolve() : showLanguage(language.peek());

async function show(wanted: Language, isWhole: boolean): Promise<void> {
  latestChoice += 1;
  const choice = latestChoice;
  const table = await (isWhole ? loadWhole(wanted) : loaders[wanted].first());
  // Whoever taps two languages quickly gets the one tapped last.
  if (choice !== latestChoice) return;
  speech.value = {
    ...{ language: wanted, table, grammar: createGrammar(wanted) },
    ...(isWhole && { isWhole }),
  };
  if (typeof document !== 'undefined') document.documentElement.lang = wanted;
}

/** The language to begin with: the one chosen before, else the browser's. */
export function firstLanguage(chosen: string | null | undefined): Language {
  const ofBrowser = typeof navigator === 'undefined' ? [] : (navigator.languages ?? []);
  return chooseLanguage([chosen, ...ofBrowser]);
}
