import { computed, signal } from '@preact/signals';
import type { Dictionary, MessageKey, MessageTable } from './dictionary.ts';
import { firstWords } from './en/first-words.ts';
import { chooseLanguage, type Language } from './languages.ts';
import { createGrammar, fillMessage, type Grammar, type MessageParams } from './messages.ts';

interface Speech {
  readonly language: Language;
  readonly table: MessageTable;
  readonly grammar: Grammar;
}

/** What there is of English: it is there from the start with what home says. */
let english: MessageTable = firstWords;

async function loadEnglish(): Promise<MessageTable> {
  const { laterWords } = await import('./en/later-words.ts');
  english = { ...firstWords, ...laterWords };
  return english;
}

/** Each comes as a file of its own, when it is chosen. */
const loaders: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Dictionary>>> = {
  fr: () => import('./fr/dictionary.ts').then((module) => module.dictionary),
  sw: () => import('./sw/dictionary.ts').then((module) => module.dictionary),
  pt: () => import('./pt/dictionary.ts').then((module) => module.dictionary),
};

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
export async function showLanguage(wanted: Language): Promise<void> {
  latestChoice += 1;
  const choice = latestChoice;
  // The texts that are there are all messages; a draft section may lack some.
  const table = wanted === 'en' ? await loadEnglish() : ((await loaders[wanted]()) as MessageTable);
  // Whoever taps two languages quickly gets the one tapped last.
  if (choice !== latestChoice) return;
  speech.value = { language: wanted, table, grammar: createGrammar(wanted) };
  if (typeof document !== 'undefined') document.documentElement.lang = wanted;
}

/**
 * The language of the first screen. English that home needs is there already; other languages are
 * waited for.
 */
export const showFirst = (wanted: Language): Promise<void> =>
  wanted === 'en' ? Promise.resolve() : showLanguage(wanted);

/** Resolves when all texts of the language shown are there, for screens that say more than home. */
export const allWords = (): Promise<void> =>
  language.peek() === 'en' && english === firstWords ? showLanguage('en') : Promise.resolve();

/** The language to begin with: the one chosen before, else the browser's. */
export function firstLanguage(chosen: string | null | undefined): Language {
  const ofBrowser = typeof navigator === 'undefined' ? [] : (navigator.languages ?? []);
  return chooseLanguage([chosen, ...ofBrowser]);
}
