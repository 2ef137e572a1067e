import { isLanguage, type Language } from '../i18n/languages.ts';

const languageKey = 'kipimo.language';

/** The language chosen on this device, if one was. */
export function readLanguage(): Language | undefined {
  try {
    const kept = localStorage.getItem(languageKey);
    return isLanguage(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers a language for the next visit. */
export function rememberLanguage(language: Language): void {
  try {
    localStorage.setItem(languageKey, language);
  } catch {
    // A browser that keeps nothing asks its own languages again.
  }
}
