import { saysLittle } from '../i18n/few-words.ts';
import type { Language } from '../i18n/languages.ts';

/**
 * The texts of each language: those of home, which of English are in the first load, those of a
 * device and the map, and all others. Written by the build.
 */
declare const WORD_FILES: Readonly<
  Record<Language, { readonly first?: string; readonly later: string; readonly rest: string }>
>;

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
  const { first, later, rest } = WORD_FILES[language];
  const beside = pathname === '/' ? [] : saysLittle(pathname) ? [later] : [later, rest];
  return { files: [...own, ...(first === undefined ? [] : [first]), ...beside], large };
}

/** What the service wrote into the page; a page that was kept for the time offline has none. */
function readScreen(): Partial<ScreenFiles> & { readonly guests?: readonly string[] } {
  const text = document.querySelector('meta[name="kipimo-screen"]')?.getAttribute('content');
  return text === null || text === undefined ? {} : JSON.parse(text);
}
