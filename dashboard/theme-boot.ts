// Runs before the first paint, so that a chosen theme never flashes the other one; and asks for
// what the screen at this address needs while the rest of the app is still on its way.
import { askEarly } from './api/early-answers.ts';
import { storedLogouts, storedSession } from './api/session-store.ts';
import { chooseLanguage } from './i18n/languages.ts';
import { firstReads } from './shell/first-reads.ts';
import { fetchLaterStyles } from './shell/later-styles.ts';
import { filesOfScreen } from './shell/screen-files.ts';
import { readLanguage } from './state/language-choice.ts';
import { readTheme } from './state/theme-choice.ts';
import { tokenLifeMs } from './state/token-life.ts';

/** The address of the styles that home does without; written by the build. */
declare const LATER_STYLES: string;

const theme = readTheme();
if (theme !== 'system') document.documentElement.dataset['theme'] = theme;

const shown = chooseLanguage([readLanguage(), ...(navigator.languages ?? [])]);
const session = stored(storedSession);
const { files, large } = filesOfScreen({
  ...{ pathname: location.pathname, language: shown, isGuest: session === undefined },
});
const links = files.map(preload);
// The frame and the values of a screen are painted while its chart or map is on its way.
let awaited = links.length;
for (const link of links) {
  for (const end of ['load', 'error']) link.addEventListener(end, askLarge);
}
if (links.length === 0) askLarge();

// The core is larger than all of them, and keeps the line busy until the first of these comes.
function askLarge(): void {
  awaited -= 1;
  if (awaited > 0) return;
  for (const file of large) preload(file);
}

function preload(file: string): HTMLLinkElement {
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.href = file;
  document.head.append(link);
  return link;
}

globalThis.kipimoLaterStyles = LATER_STYLES;
if (location.pathname !== '/') fetchLaterStyles(LATER_STYLES);

const now = Date.now();
const { pathname: path, search } = location;
const reads = firstReads({ path, search, username: session?.username, widthPx: innerWidth, now });
// A logout that is owed comes before anything else.
if (!stored(storedLogouts)?.length) {
  askEarly({
    ...{ urls: reads.map((read) => `/api/v2${read}`), session, now },
    tokenLifeMs: tokenLifeMs(),
  });
}

function stored<Kept>(read: (store: Storage) => Kept): Kept | undefined {
  try {
    return read(localStorage);
  } catch {
    return undefined;
  }
}
