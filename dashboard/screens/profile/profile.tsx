import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { draftOf, type ProfileDraft, profileMessage } from '../../api/profile.ts';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, me, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LookChoice } from '../../ui/look-choice.tsx';
import { ProfileFields } from '../../ui/profile-fields.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AccountEnd } from './account-end.tsx';
import { Keys } from './keys.tsx';

/** The own account: who I am, how it looks, keys, and the end of it. */
export function Profile(): JSX.Element {
  const { value, error, reload } = useResource(`me ${username.value}`, (signal) =>
    api.getJson<User>({ path: '/users/me', signal }),
  );
  return (
    <div class="stack profile">
      <header class="screen-head">
        <div>
          <h1>{t('profile.title')}</h1>
          <p class="quiet">{t('shell.loggedInAs', { name: username.value ?? '' })}</p>
        </div>
        <button type="button" class="button" onClick={() => void api.logOut()}>
          <Icon name="logout" />
          {t('shell.logout')}
        </button>
      </header>
      <section class="surface stack" aria-labelledby="look">
        <h2 id="look">{t('profile.look')}</h2>
        <LookChoice />
      </section>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined ? (
        error === undefined && <Skeleton height={420} />
      ) : (
        <>
          <section class="surface stack" aria-labelledby="contact">
            <h2 id="contact">{t('profile.contact')}</h2>
            <ContactForm user={value} onSaved={reload} />
          </section>
          <section class="surface stack" aria-labelledby="keys">
            <h2 id="keys">{t('profile.keys')}</h2>
            <Keys />
          </section>
          <section class="surface stack" aria-labelledby="password">
            <h2 id="password">{t('profile.password')}</h2>
            <PasswordForm user={value} />
          </section>
          <AccountEnd user={value} />
        </>
      )}
    </div>
  );
}

function ContactForm({
  user,
  onSaved,
}: {
  readonly user: User;
  readonly onSaved: () => void;
}): JSX.Element {
  const [draft, setDraft] = useState<ProfileDraft>(() => draftOf(user));
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const json = profileMessage(draft, { removesEmpty: true });
    if (!(await action.run(() => api.send({ method: 'PUT', path: '/users/me', json })))) return;
    me.value = await api.getJson<User>({ path: '/users/me' }).catch(() => user);
    showToast(t('profile.saved'));
    onSaved();
  }
  return (
    <form class="form" onSubmit={save} noValidate>
      <ProfileFields draft={draft} onDraft={setDraft} />
      {user.sms_credit !== undefined && (
        <p class="quiet">{t('profile.smsCredit', { count: user.sms_credit })}</p>
      )}
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('common.save')}
      </button>
    </form>
  );
}

const passwordCharactersMin = 8;

function PasswordForm({ user }: { readonly user: User }): JSX.Element {
  const [password, setPassword] = useState('');
  const action = useAction();
  async function change(event: Event): Promise<void> {
    event.preventDefault();
    if (password.length < passwordCharactersMin) return action.fail(t('welcome.passwordShort'));
    const isDone = await action.run(async () => {
      const path = `/users/${encodeURIComponent(user.id)}/password`;
      await api.send({ method: 'PUT', path, body: password });
      // A changed password ends all tokens, this page's too.
      await api.logIn(user.username, password);
    });
    if (!isDone) return;
    setPassword('');
    showToast(t('profile.passwordChanged'));
  }
  return (
    <form class="form" onSubmit={change} noValidate>
      <input type="hidden" name="username" autocomplete="username" value={user.username} />
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
        {t('profile.changePassword')}
      </button>
    </form>
  );
}
