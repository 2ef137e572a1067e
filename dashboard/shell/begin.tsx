import { render } from 'preact';
import { firstLanguage, showFirst } from '../i18n/i18n.ts';
import { watchClock } from '../state/clock.ts';
import { watchInstall } from '../state/install.ts';
import { readLanguage } from '../state/language-choice.ts';
import { watchNetwork } from '../state/network.ts';
import { rememberScroll } from '../state/scroll-memory.ts';
import { watchSession } from '../state/session.ts';
import { App } from './app.tsx';
import './core.ts';

watchInstall();
watchClock();
rememberScroll();
watchNetwork();
watchSession();
// Not awaited: the files of words and of screens import this one.
void showFirst(firstLanguage(readLanguage())).then(show, show);
// After what is on the screen: the worker fetches what the app needs without network.
if ('serviceWorker' in navigator) {
  if (document.readyState === 'complete') registerWorker();
  else addEventListener('load', registerWorker, { once: true });
}

function registerWorker(): void {
  const afterLoadMs = 3_000;
  setTimeout(() => {
    // Not allowed on plain HTTP from another machine; the page works without.
    navigator.serviceWorker.register('/service-worker.js').catch(() => undefined);
  }, afterLoadMs);
}

function show(): void {
  const root = document.getElementById('app');
  if (root !== null) render(<App />, root);
}
