import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { t } from '../../i18n/i18n.ts';
import { LoginForm } from '../../shell/login-form.tsx';
import { pageSettings } from '../../state/page-settings.ts';
import { username } from '../../state/session.ts';

/** Logging in, by its own address. */
export function Login(): JSX.Element {
  const { route } = useLocation();
  const isIn = username.value !== undefined;
  useEffect(() => {
    if (isIn) route('/', true);
  }, [isIn]);
  return (
    <div class="stack narrow">
      <h1>{t('shell.login')}</h1>
      <LoginForm />
      {pageSettings().signup === 'open' && (
        <p>
          {t('welcome.noAccount')} <a href="/signup">{t('shell.signup')}</a>
        </p>
      )}
    </div>
  );
}
