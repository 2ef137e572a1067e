import type { Language } from '../i18n/languages.ts';

/** Each screen's address, and the scripts that it is made of; written by the build. */
declare const SCREEN_FILES: readonly (readonly [
  path: string,
  files: readonly string[],
  large: readonly string[],
])[];

/** The texts of each language; of English, those that home does not need. */
declare const WORD_FILES: Readonly<Record<Language, string>>;

/** The scripts that a screen will ask for one after the other. */
interface ScreenFiles {
  readonly files: readonly string[];
  /** Those that would keep the rest waiting. */
  readonly large: readonly string[];
}

/** The scripts of the screen at an address, with its words. */
export function filesOfScreen(pathname: string, language: Language): ScreenFiles {
  const found = SCREEN_FILES.find(([path]) => patternOf(path).test(pathname));
  const isInFirstLoad = language === 'en' && pathname === '/';
  const [, files = [], large = []] = found ?? [];
  return { files: [...files, ...(isInFirstLoad ? [] : [WORD_FILES[language]])], large };
}

/** A path with blanks such as `/devices/:device`, as a pattern of whole addresses. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/?$`);
