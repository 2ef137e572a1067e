import { computed, signal } from '@preact/signals';
import type { MessageKey, MessageTable } from './dictionary.ts';
import { firstWords } from './en/first-words.ts';
import { chooseLanguage, type Language } from './languages.ts';
import { createGrammar, fillMessage, type Grammar, type MessageParams } from './messages.ts';

/** How much of a language is there: what home says, what a device and the map say, too, or all. */
type Reach = 'first' | 'later' | 'all';

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

/** Each comes in three files of its own, when it is chosen. */
const loaders: Readonly<Record<Language, Words>> = {
  en: {
    first: () => Promise.resolve(firstWords),
    later: () => import('./en/later-words.ts').then(({ laterWords }) => laterWords),
    rest: () => import('./en/rest-words.ts').then(({ restWords }) => restWords),
  },
  fr: {
    first: () => import('./fr/first-words.ts').then((module) => module.firstWords),
    later: () => import('./fr/later-words.ts').then(({ laterWords }) => laterWords),
    rest: () => import('./fr/rest-words.ts').then(({ restWords }) => restWords),
  },
  sw: {
    first: () => import('./sw/first-words.ts').then((module) => module.firstWords),
    later: () => import('./sw/later-words.ts').then(({ laterWords }) => laterWords),
    rest: () => import('./sw/rest-words.ts').then(({ restWords }) => restWords),
  },
  pt: {
    first: () => import('./pt/first-words.ts').then((module) => module.firstWords),
    later: () => import('./pt/later-words.ts').then(({ laterWords }) => laterWords),
    rest: () => import('./pt/rest-words.ts').then(({ restWords }) => restWords),
  },
};

async function load(language: Language, reach: Reach): Promise<MessageTable> {
  const { first, later, rest } = loaders[language];
  const parts = { first: [first], later: [first, later], all: [first, later, rest] }[reach];
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
  reach: 'first',
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
export const showLanguage = (wanted: Language): Promise<void> => show(wanted, 'all');

/** The language of the first screen: what home needs of it is waited for. */
export const showFirst = (wanted: Language): Promise<void> => show(wanted, 'first');

/** What was asked for last is never less than what was asked for before. */
let isAllWanted = false;

/** Resolves when the texts of a screen are there, of all screens or of those that say little. */
export const wordsFor = (reach: Exclude<Reach, 'first'>): Promise<void> => {
  isAllWanted ||= reach === 'all';
  const wanted = isAllWanted ? 'all' : reach;
  const { language: shown, reach: known } = speech.peek();
  return known === 'all' || known === wanted ? Promise.resolve() : show(shown, wanted);
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
