import { inWords, labelOf, type Vocabulary } from '../api/terms.ts';
import type { Term } from '../api/types.ts';
import { language } from '../i18n/i18n.ts';
import type { Language } from '../i18n/languages.ts';
import { termWords } from '../i18n/term-words.ts';
import { useResource } from './resource.ts';
import { api } from './session.ts';

/** The first answer is for all who ask, and does not change meanwhile. */
const loads = new Map<Vocabulary, Promise<readonly Term[]>>();

function load(name: Vocabulary): Promise<readonly Term[]> {
  const known = loads.get(name);
  if (known !== undefined) return known;
  const loading = api.getJson<readonly Term[]>({ path: `/ontologies/${name}` });
  loads.set(name, loading);
  loading.catch(() => loads.delete(name));
  return loading;
}

async function loadNamed(name: Vocabulary, wanted: Language): Promise<readonly Term[]> {
  const [terms, { terms: words }] = await Promise.all([load(name), termWords[wanted]()]);
  return inWords(terms, name, words, wanted);
}

const noTerms: readonly Term[] = [];

/** The terms that pick lists offer, as the reader says them; nothing has to be one of them. */
export function useVocabulary(name: Vocabulary): readonly Term[] {
  const wanted = language.value;
  const key = `vocabulary ${name} ${wanted}`;
  return useResource(key, () => loadNamed(name, wanted), { isKept: true }).value ?? noTerms;
}

/** What a quantity is called to the reader: by its kind, or the unit where no kind is told. */
export function useQuantityName(): (key: string) => string {
  const known = [...useVocabulary('quantity_kinds'), ...useVocabulary('units')];
  return (key) => labelOf(known, key);
}
