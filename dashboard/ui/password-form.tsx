import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { apiPaths } from '../api/paths.ts';
import type { User } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { api, username } from '../state/session.ts';
import { showToast } from '../state/toasts.ts';
import { TextField } from './field.tsx';

const passwordCharactersMin = 8;

/** A new password: for oneself with the old one, for another as an administrator. */
export function PasswordForm({
  user,
  label,
  done,
  onDone,
}: {
  readonly user: User;
  /** What the button says. */
  readonly label: string;
  /** What is said when it holds. */
  readonly done: string;
  readonly onDone?: () => void;
}): JSX.Element {
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const action = useAction();
  const isOwn = user.username === username.value;

  async function change(event: Event): Promise<void> {
    event.preventDefault();
    if (isOwn && old === '') return action.fail(t('profile.oldPasswordNeeded'));
    if (password.length < passwordCharactersMin) return action.fail(t('welcome.passwordShort'));
    let isOldWrong = false;
    const isDone = await action.run(async () => {
      const path = `${apiPaths.user(user.id)}/password`;
      const json = { password, ...(isOwn && { old_password: old }) };
      await api.send({ method: 'PUT', path, json }).catch((error: unknown) => {
        isOldWrong = isOwn && error instanceof ApiError && error.status === 403;
        throw error;
      });
      // A changed password ends all tokens, this page's too.
      if (isOwn) await api.logIn(user.username, password);
    });
    if (isOldWrong) action.fail(t('profile.oldPasswordWrong'));
    if (!isDone) return;
    setOld('');
    setPassword('');
    showToast(done);
    onDone?.();
  }

  return (
    <form class="form" onSubmit={change} noValidate>
      <input type="hidden" name="username" autocomplete="username" value={user.username} />
      {isOwn && (
        <TextField
          label={t('profile.oldPassword')}
          type="password"
          autocomplete="current-password"
          value={old}
          onValue={setOld}
        />
      )}
      <TextField
        label={t('profile.newPassword')}
        type="password"
        autocomplete="new-password"
        hint={t('welcome.passwordHint')}
        error={action.error}
        value={password}
        onValue={setPassword}
      />
      <button type="submit" class="button tiles-add" disabled={action.isBusy}>
        {label}
      </button>
    </form>
  );
}
