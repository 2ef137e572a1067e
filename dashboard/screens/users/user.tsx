import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths } from '../../api/paths.ts';
import { draftOf, type ProfileDraft, profileMessage } from '../../api/profile.ts';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { PasswordForm } from '../../ui/password-form.tsx';
import { ProfileFields } from '../../ui/profile-fields.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Switch } from '../../ui/switch.tsx';
import { activityOf } from './activity.ts';
import { creditOf, fullName } from './user-words.ts';
import { AdminsOnly } from './users.tsx';

/** One account, for administrators. */
export function UserScreen({ params }: ScreenProps): JSX.Element {
  const id = params['user'] ?? '';
  const resource = useResource(isAdmin.value ? `user ${id}` : undefined, (signal) =>
    api.getJson<User>({ path: apiPaths.user(id), signal }),
  );
  const { value, error, reload } = resource;
  if (!isAdmin.value) return <AdminsOnly />;
  return (
    <div class="stack profile">
      <a class="back-link" href="/users">
        <Icon name="back" />
        {t('users.all')}
      </a>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={420} />}
      {value !== undefined && <Known key={value.id} user={value} resource={resource} />}
    </div>
  );
}

function Known(props: { readonly user: User; readonly resource: Resource<User> }): JSX.Element {
  const { user, resource } = props;
  const name = fullName(user);
  const isSelf = user.username === username.value;
  return (
    <>
      <header>
        <h1>{user.username}</h1>
        {name !== '' && <p class="quiet">{name}</p>}
        <p class="quiet">{activityOf(user)}</p>
      </header>
      {isSelf ? (
        <p class="note">
          {t('users.self')} <a href="/profile">{t('shell.profile')}</a>
        </p>
      ) : (
        <Rights user={user} resource={resource} />
      )}
      <CreditForm user={user} onSaved={resource.reload} />
      {!isSelf && (
        <>
          <ContactForm user={user} onSaved={resource.reload} />
          <NewPassword user={user} />
          <DeleteUser user={user} />
        </>
      )}
    </>
  );
}

/** What works at once: whether somebody may log in, and may do everything. */
function Rights(props: { readonly user: User; readonly resource: Resource<User> }): JSX.Element {
  const { user, resource } = props;
  const action = useAction();
  async function change(changes: Partial<User>): Promise<void> {
    resource.set({ ...user, ...changes });
    const path = apiPaths.user(user.id);
    const isDone = await action.run(() => api.send({ method: 'PUT', path, json: changes }));
    if (!isDone) resource.set(user);
  }
  const isEnabled = user.disabled !== true;
  return (
    <section class="surface stack-tight">
      <Switch
        label={t('users.enabledText')}
        isOn={isEnabled}
        onChange={() => void change({ disabled: isEnabled })}
      />
      <Switch
        label={t('common.pair', { name: t('users.admin'), value: t('users.adminText') })}
        isOn={user.admin === true}
        onChange={() => void change({ admin: user.admin !== true })}
      />
      <FormError text={action.error} />
    </section>
  );
}

interface FormProps {
  readonly user: User;
  readonly onSaved: () => void;
}

function CreditForm({ user, onSaved }: FormProps): JSX.Element {
  const [text, setText] = useState(user.sms_credit === undefined ? '' : String(user.sms_credit));
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const credit = creditOf(text);
    if (credit === undefined) return action.fail(t('users.creditBad'));
    const path = `${apiPaths.user(user.id)}/sms_credit`;
    if (!(await action.run(() => api.send({ method: 'PUT', path, json: credit })))) return;
    showToast(t('users.saved'));
    onSaved();
  }
  return (
    <section class="surface">
      <form class="form" onSubmit={save} noValidate>
        <TextField
          label={t('users.credit')}
          hint={t('users.creditHint')}
          error={action.error}
          inputMode="numeric"
          autocomplete="off"
          value={text}
          onValue={setText}
        />
        <button type="submit" class="button tiles-add" disabled={action.isBusy}>
          {t('common.save')}
        </button>
      </form>
    </section>
  );
}

function ContactForm({ user, onSaved }: FormProps): JSX.Element {
  const [draft, setDraft] = useState<ProfileDraft>(() => draftOf(user));
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const json = profileMessage(draft, { removesEmpty: true });
    const path = apiPaths.user(user.id);
    if (!(await action.run(() => api.send({ method: 'PUT', path, json })))) return;
    showToast(t('users.saved'));
    onSaved();
  }
  return (
    <details class="surface fold">
      <summary>{t('users.contact')}</summary>
      <form class="form" onSubmit={save} noValidate>
        <ProfileFields draft={draft} onDraft={setDraft} />
        <FormError text={action.error} />
        <button type="submit" class="button tiles-add" disabled={action.isBusy}>
          {t('common.save')}
        </button>
      </form>
    </details>
  );
}

function NewPassword({ user }: { readonly user: User }): JSX.Element {
  return (
    <details class="surface fold">
      <summary>{t('users.newPassword')}</summary>
      <p class="quiet">{t('users.newPasswordText')}</p>
      <PasswordForm user={user} label={t('users.newPassword')} done={t('users.passwordSet')} />
    </details>
  );
}

function DeleteUser({ user }: { readonly user: User }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const { route } = useLocation();
  const name = user.username;
  async function remove(): Promise<void> {
    const isDone = await action.run(() =>
      api.send({ method: 'DELETE', path: apiPaths.user(user.id) }),
    );
    setAsking(false);
    if (!isDone) return;
    showToast(t('users.deleted', { name }));
    route('/users', true);
  }
  return (
    <div>
      <FormError text={action.error} />
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        {t('users.delete')}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={t('users.delete')}
          text={t('users.deleteText', { name })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
