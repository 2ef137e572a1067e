import { render } from 'preact';
import { firstLanguage, showLanguage } from './i18n/i18n.ts';
import { App } from './shell/app.tsx';
import { watchClock } from './state/clock.ts';
import { readLanguage } from './state/language-choice.ts';
import { watchNetwork } from './state/network.ts';
import { watchSession } from './state/session.ts';
import './styles/app.css';

watchClock();
watchNetwork();
watchSession();
await showLanguage(firstLanguage(readLanguage())).catch(() => undefined);
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
if ('serviceWorker' in navigator) {
  // Not allowed on plain HTTP from another machine; the page works without.
  navigator.serviceWorker.register('/service-worker.js').catch(() => undefined);
}
