import type { TermWords } from '../i18n/term-words.ts';
import type { Term } from './types.ts';
import { unitSymbol } from './unit-symbol.ts';
import { plain } from './word-search.ts';

/** The vocabularies whose terms have names in the language of the reader. */
export type Vocabulary = keyof TermWords;

/** Terms as the reader says them, in the order of their names; units with their signs. */
export function inWords(
  terms: readonly Term[],
  vocabulary: Vocabulary,
  words: TermWords,
  language: string,
): readonly Term[] {
  const names = words[vocabulary];
  const order = new Intl.Collator(language);
  const signOf = (id: string): string => (vocabulary === 'units' ? unitSymbol(id) : '');
  return terms
    .map((term) => {
      const name = Object.hasOwn(names, term.id) ? (names[term.id] ?? '') : term.label;
      const sign = signOf(term.id);
      return { ...term, label: sign === '' || sign === name ? name : `${name} (${sign})` };
    })
    .sort((one, other) => order.compare(one.label, other.label));
}

/** Name of a term in the language shown; a text that is no term stays as it is. */
export const labelOf = (terms: readonly Term[], id: string): string =>
  terms.find((term) => term.id === id)?.label ?? id;

/** The id of the term that a text names, by its id or its name; else the text itself. */
export function idOf(terms: readonly Term[], text: string): string {
  const wanted = plain(text.trim());
  const named = terms.find(({ id, label }) => plain(id) === wanted || plain(label) === wanted);
  return named?.id ?? text;
}

/** Terms that a text finds by their ids alone: a browser compares it with their names only. */
export function foundById(terms: readonly Term[], text: string): readonly Term[] {
  const wanted = plain(text.trim());
  if (wanted === '') return [];
  return terms.filter(
    ({ id, label }) => plain(id).includes(wanted) && !plain(label).includes(wanted),
  );
}
