import type { Language } from './languages.ts';

/** Names of the terms of the vocabularies in one language, by id; else the label of the service. */
export interface TermWords {
  readonly sensor_kinds: Readonly<Record<string, string>>;
  readonly quantity_kinds: Readonly<Record<string, string>>;
  /** Names of units; their signs are in `api/unit-labels.ts`. */
  readonly units: Readonly<Record<string, string>>;
}

/** Each language in a file of its own, fetched by the screens that name terms. */
export const termWords: Readonly<Record<Language, () => Promise<{ readonly terms: TermWords }>>> = {
  en: () => import('./en/terms.ts'),
  fr: () => import('./fr/terms.ts'),
  sw: () => import('./sw/terms.ts'),
  pt: () => import('./pt/terms.ts'),
};
