import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { ApiError } from '../../api/api-error.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { readStayChoice } from '../../state/stay-choice.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';

const passwordCharactersMin = 8;

const secretHere = (): string => location.hash.slice(1);

/** The link that the first start printed: a login with a password of one's own, or without. */
export function FirstLogin(): JSX.Element {
  const [secret, setSecret] = useState(secretHere);
  const [wrongSecret, setWrong] = useState('');
  useEffect(() => {
    // Somebody puts the whole link in the place of a part of it: no other page is loaded.
    const follow = (): void => setSecret(secretHere());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return (
    <div class="stack narrow">
      <h1>{t('welcome.firstTitle')}</h1>
      {secret === wrongSecret ? (
        <>
          <p>{t('welcome.firstWrong')}</p>
          <a class="button" href="/login">
            {t('shell.login')}
          </a>
        </>
      ) : (
        <FirstPassword secret={secret} onWrong={() => setWrong(secret)} />
      )}
    </div>
  );
}

function FirstPassword({
  secret,
  onWrong,
}: {
  readonly secret: string;
  readonly onWrong: () => void;
}): JSX.Element {
  const [password, setPassword] = useState('');
  const { route } = useLocation();
  const action = useAction();

  async function logIn(answer: { readonly password?: string }): Promise<void> {
    let isWrong = false;
    const isDone = await action.run(async () => {
      await api.logInFirst({ secret, ...answer }, readStayChoice()).catch((error: unknown) => {
        isWrong = error instanceof ApiError && error.status === 401;
        throw error;
      });
    });
    if (isWrong) onWrong();
    // In the place of the address with the secret.
    else if (isDone) route('/', true);
  }

  function set(event: Event): void {
    event.preventDefault();
    if (password.length < passwordCharactersMin) action.fail(t('welcome.passwordShort'));
    else void logIn({ password });
  }

  return (
    <form class="form" onSubmit={set} noValidate>
      <p class="quiet">{t('welcome.firstText')}</p>
      <TextField
        label={t('profile.newPassword')}
        type="password"
        autocomplete="new-password"
        hint={t('welcome.passwordHint')}
        value={password}
        onValue={setPassword}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('welcome.firstSet')}
      </button>
      <button
        type="button"
        class="button button-quiet"
        disabled={action.isBusy}
        onClick={() => void logIn({})}
      >
        {t('welcome.firstLater')}
      </button>
    </form>
  );
}
