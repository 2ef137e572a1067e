import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import { usernameFrom } from '../../api/id-check.ts';
import { emptyProfile, profileMessage } from '../../api/profile.ts';
import { t } from '../../i18n/i18n.ts';
import { api } from '../../state/session.ts';
import { readStayChoice } from '../../state/stay-choice.ts';
import { TextField } from '../../ui/field.tsx';
import { ContactFields, ProfileFields } from '../../ui/profile-fields.tsx';

const passwordCharactersMin = 8;

interface Faults {
  readonly username?: string;
  readonly password?: string;
  readonly form?: string;
}

/** A new account, logged in at once; what follows is up to the screen it is on. */
export function SignupForm({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isShown, setShown] = useState(false);
  const [profile, setProfile] = useState(emptyProfile);
  const [faults, setFaults] = useState<Faults>({});
  const [isBusy, setBusy] = useState(false);

  async function signUp(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    const name = username.trim();
    if (name === '') return setFaults({ username: t('welcome.nameNeeded') });
    const proposal = usernameFrom(name);
    if (!/^[\w.@-]+$/.test(name) && proposal !== '') {
      setUsername(proposal);
      return setFaults({ username: t('welcome.usernameProposed', { name: proposal }) });
    }
    if (password.length < passwordCharactersMin) {
      return setFaults({ password: t('welcome.passwordShort') });
    }
    setBusy(true);
    setFaults({});
    try {
      const json = {
        username: name,
        password,
        ...profileMessage(profile, { removesEmpty: false }),
      };
      await api.send({ method: 'POST', path: '/users', json });
      await api.logIn(name, password, readStayChoice());
      onDone();
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === 'conflict';
      setFaults(isTaken ? { username: t('welcome.taken') } : { form: errorSentence(error, t) });
    } finally {
      setBusy(false);
    }
  }

  return (
    <form class="form" onSubmit={signUp} noValidate>
      <TextField
        label={t('welcome.username')}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        hint={t('welcome.usernameHint')}
        error={faults.username}
        value={username}
        onValue={setUsername}
      />
      <TextField
        label={t('welcome.password')}
        name="password"
        type={isShown ? 'text' : 'password'}
        autocomplete="new-password"
        hint={t('welcome.passwordHint')}
        error={faults.password}
        value={password}
        onValue={setPassword}
      />
      <label class="choice">
        <input
          type="checkbox"
          checked={isShown}
          onChange={(event) => setShown(event.currentTarget.checked)}
        />
        {t('welcome.showPassword')}
      </label>
      <p class="field-hint">{t('welcome.contactWhy')}</p>
      <ContactFields draft={profile} onDraft={setProfile} />
      <details class="more-fields">
        <summary>{t('welcome.moreAboutYou')}</summary>
        <div class="stack">
          <ProfileFields draft={profile} onDraft={setProfile} isWithoutContact />
        </div>
      </details>
      {faults.form !== undefined && (
        <p class="field-error" role="alert">
          {faults.form}
        </p>
      )}
      <button type="submit" class="button button-main" disabled={isBusy}>
        {t('welcome.create')}
      </button>
    </form>
  );
}
