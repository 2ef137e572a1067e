import { signal } from '@preact/signals';
import { language } from './i18n.ts';
import type { Language } from './languages.ts';
import type { createRefusalSentences, ExactCodeAndParams } from './refusal-sentences.ts';
import type { RefusalWords } from './refusal-words.ts';

type Loaded = ReturnType<typeof createRefusalSentences> & { readonly language: Language };

const tables: Readonly<Record<Language, () => Promise<{ readonly refusals: RefusalWords }>>> = {
  en: () => import('./en/refusals.ts'),
  fr: () => import('./fr/refusals.ts'),
  sw: () => import('./sw/refusals.ts'),
  pt: () => import('./pt/refusals.ts'),
};

const loaded = signal<Loaded>();
/** The language whose sentences could not be fetched. */
const missing = signal<Language>();

/** Sentences in the language shown; undefined before they are fetched. */
const present = (): Loaded | undefined =>
  loaded.value?.language === language.value ? loaded.value : undefined;

/** Fetches the sentences in the language shown; without network they are missing, no more. */
export async function loadRefusals(): Promise<void> {
  const wanted = language.peek();
  if (loaded.peek()?.language === wanted) return;
  try {
    const [{ refusals }, sentences] = await Promise.all([
      tables[wanted](),
      import('./refusal-sentences.ts'),
    ]);
    loaded.value = { ...sentences.createRefusalSentences(refusals), language: wanted };
  } catch {
    // The words of the service are shown.
    missing.value = wanted;
  }
}

/**
 * Whether `ofService` says sentences as it will go on to say them, which it fetches the words for:
 * a screen that shows some waits for that, or its lines would change their lengths.
 */
export function areRefusalsSettled(): boolean {
  if (present() !== undefined || missing.value === language.value) return true;
  void loadRefusals();
  return false;
}

/** A refusal in the language shown; undefined where its words are not there. */
export const refusalSentence = (refusal: ExactCodeAndParams): string | undefined =>
  present()?.ofCode(refusal);

/** A sentence that the service wrote down, such as why a message failed, as the reader says it. */
export function ofService(sentence: string): string {
  const known = present();
  if (known === undefined) void loadRefusals();
  return known?.ofService(sentence) ?? sentence;
}
