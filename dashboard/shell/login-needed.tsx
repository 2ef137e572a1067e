import type { JSX } from 'preact';
import { t } from '../i18n/i18n.ts';
import { stayGuest } from '../state/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { LoginForm } from './login-form.tsx';

/** Instead of a screen that needs an account. */
export function LoginScreen(): JSX.Element {
  return (
    <div class="stack narrow">
      <h1>{t('shell.login')}</h1>
      <LoginForm />
    </div>
  );
}

/** Over the screen, when a session ended by itself: nothing typed on the screen is lost. */
export function SessionEnded({ name }: { readonly name: string }): JSX.Element {
  return (
    <Dialog title={t('shell.ended')} onClose={stayGuest}>
      <div class="stack">
        <p>{t('shell.endedText', { name })}</p>
        <LoginForm name={name} />
        <button type="button" class="button button-quiet" onClick={stayGuest}>
          {t('shell.staysGuest')}
        </button>
      </div>
    </Dialog>
  );
}
