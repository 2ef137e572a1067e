import { type JSX, render } from 'preact';
import type { User } from '../api/types.ts';
import { t, wordsFor } from '../i18n/i18n.ts';
import { api } from '../state/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PasswordForm } from '../ui/password-form.tsx';
import { laterStyles } from './later-styles.ts';

/**
 * Asks somebody who has just logged in with a password that somebody else chose for another one,
 * over whatever screen comes next. The frame of every screen has nothing of it to load.
 */
export async function askForOwnPassword(): Promise<void> {
  const user = await api.getJson<User>({ path: '/users/me' });
  if (user.password_is_initial !== true) return;
  await Promise.all([wordsFor(3), laterStyles()]);
  const place = document.createElement('div');
  document.body.append(place);
  const end = (): void => {
    render(null, place);
    place.remove();
  };
  render(<OwnPassword user={user} onEnd={end} />, place);
}

function OwnPassword(props: { readonly user: User; readonly onEnd: () => void }): JSX.Element {
  const { user, onEnd } = props;
  return (
    <Dialog title={t('users.initialTitle')} onClose={onEnd}>
      <p>{t('users.initialText')}</p>
      <PasswordForm
        user={user}
        label={t('users.initialDo')}
        done={t('users.passwordSet')}
        onDone={onEnd}
      />
      <button type="button" class="button button-quiet" onClick={onEnd}>
        {t('users.initialLater')}
      </button>
    </Dialog>
  );
}
