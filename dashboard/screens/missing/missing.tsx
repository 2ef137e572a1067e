import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';

/** Nothing is at the address that was asked for. */
export function Missing(): JSX.Element {
  return (
    <div class="empty">
      <h1>{t('shell.missing')}</h1>
      <p class="quiet">{t('shell.missingText')}</p>
      <a class="button" href="/">
        {t('shell.goHome')}
      </a>
    </div>
  );
}
