import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { errorSentence } from '../api/error-sentence.ts';
import { t } from '../i18n/i18n.ts';
import { api } from '../state/session.ts';
import { readStayChoice, writeStayChoice } from '../state/stay-choice.ts';
import { TextField } from '../ui/field.tsx';

/** Username or e-mail and password; what follows is up to the screen it is on. */
export function LoginForm({
  name: given = '',
  onDone,
}: {
  readonly name?: string;
  readonly onDone?: () => void;
}): JSX.Element {
  const [name, setName] = useState(given);
  const [password, setPassword] = useState('');
  const [stays, setStays] = useState(readStayChoice);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function logIn(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === '') return setError(t('welcome.nameNeeded'));
    if (password === '') return setError(t('welcome.passwordNeeded'));
    setBusy(true);
    setError(undefined);
    try {
      writeStayChoice(stays);
      await api.logIn(name, password, stays);
      // Not awaited: what follows shows meanwhile, and without network there is nothing to ask.
      import('./initial-password.tsx')
        .then(({ askForOwnPassword }) => askForOwnPassword())
        .catch(() => undefined);
      onDone?.();
    } catch (failure) {
      const isRefused = failure instanceof ApiError && failure.status === 401;
      setError(isRefused ? t('errors.badLogin') : errorSentence(failure, t));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form class="form" onSubmit={logIn} noValidate>
      <TextField
        label={t('welcome.name')}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        value={name}
        onValue={setName}
      />
      <TextField
        label={t('welcome.password')}
        name="password"
        type="password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
      />
      <label class="choice">
        <input
          type="checkbox"
          checked={stays}
          onChange={({ currentTarget }) => setStays(currentTarget.checked)}
        />
        {t('welcome.stay')}
      </label>
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit" class="button button-main" disabled={isBusy}>
        {t('shell.login')}
      </button>
      <a class="button button-quiet" href={`/forgotten?name=${encodeURIComponent(name.trim())}`}>
        {t('welcome.forgottenAsk')}
      </a>
    </form>
  );
}
