import type { Language } from '../i18n/languages.ts';

/** The texts of each language; of English, those that home does not need. Written by the build. */
declare const WORD_FILES: Readonly<Record<Language, string>>;

/** The scripts that a screen will ask for one after the other. */
interface ScreenFiles {
  readonly files: readonly string[];
  /** Those that would keep the rest waiting. */
  readonly large: readonly string[];
}

/** Who asks for which page. */
interface Asking {
  readonly pathname: string;
  readonly language: Language;
  readonly isGuest: boolean;
}

/** The scripts of the screen that the page was sent for, with its words. */
export function filesOfScreen({ pathname, language, isGuest }: Asking): ScreenFiles {
  const { files = [], large = [], guests } = readScreen();
  const own = isGuest && guests !== undefined ? guests : files;
  const isInFirstLoad = language === 'en' && pathname === '/';
  return { files: [...own, ...(isInFirstLoad ? [] : [WORD_FILES[language]])], large };
}

/** What the service wrote into the page; a page that was kept for the time offline has none. */
function readScreen(): Partial<ScreenFiles> & { readonly guests?: readonly string[] } {
  const text = document.querySelector('meta[name="kipimo-screen"]')?.getAttribute('content');
  return text === null || text === undefined ? {} : JSON.parse(text);
}
