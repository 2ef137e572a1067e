import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { t } from '../../i18n/i18n.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { SignupForm } from './signup-form.tsx';

/** A new account, logged in at once. */
export function Signup(): JSX.Element {
  const { route } = useLocation();
  return (
    <div class="stack narrow">
      <h1>{t('shell.signup')}</h1>
      {pageSettings().signup === 'open' ? (
        <SignupForm onDone={() => route('/', true)} />
      ) : (
        <p>{t('welcome.closed')}</p>
      )}
      <p>
        {t('welcome.haveAccount')} <a href="/login">{t('shell.login')}</a>
      </p>
    </div>
  );
}
