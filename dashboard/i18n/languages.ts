/** The languages of the dashboard, by their own names. */
export const languageNames = {
  en: 'English',
  fr: 'Français',
  sw: 'Kiswahili',
  pt: 'Português',
} as const;

/** A language there is a dictionary for. */
export type Language = keyof typeof languageNames;

/** All of them, in the order of the pick list. */
export const languages: readonly Language[] = ['en', 'fr', 'sw', 'pt'];

/** Whether it is one of ours. */
export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(languageNames, text);
}

/** The first of ours among the tags, best first, as browsers list them; English when none is. */
export function chooseLanguage(wanted: readonly (string | undefined | null)[]): Language {
  for (const tag of wanted) {
    const base = tag?.toLowerCase().split(/[-_]/)[0];
    if (isLanguage(base)) return base;
  }
  return 'en';
}
