import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Page } from '../../api/client.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import { emptyProfile, type ProfileDraft, profileMessage } from '../../api/profile.ts';
import type { User } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, isRoleKnown } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProfileFields } from '../../ui/profile-fields.tsx';
import { ScreenSkeleton, Skeleton } from '../../ui/skeleton.tsx';
import { fullName, usersThatFit } from './user-words.ts';

/** As many as the service hands out at once; search looks through these. */
const loadedMax = 1_000;
const pageUsers = 50;

/** All accounts, for administrators. */
export function Users(): JSX.Element {
  return isAdmin.value ? <AllUsers /> : <AdminsOnly />;
}

/** For those who found the address, but may not; a skeleton until that is known. */
export function AdminsOnly(): JSX.Element {
  if (!isRoleKnown.value) return <ScreenSkeleton />;
  return (
    <div class="stack">
      <h1>{t('shell.users')}</h1>
      <p class="note">{t('users.adminsOnly')}</p>
    </div>
  );
}

function AllUsers(): JSX.Element {
  const [text, setText] = useState('');
  const [pages, setPages] = useState(1);
  const [isAdding, setAdding] = useState(false);
  const { value, error, reload } = useResource('users', (signal) =>
    api.getPage<User>({ path: apiPaths.users, query: { limit: loadedMax }, signal }),
  );
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('shell.users')}</h1>
        <a class="button" href="/users/import">
          {t('users.importTitle')}
        </a>
        <button type="button" class="button" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          {t('users.new')}
        </button>
      </header>
      <search>
        <TextField
          label={t('users.search')}
          hint={t('users.searchHint')}
          type="search"
          autocapitalize="none"
          autocomplete="off"
          value={text}
          onValue={(next) => {
            setText(next);
            setPages(1);
          }}
        />
      </search>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={320} />}
      {value !== undefined && (
        <Found
          page={value}
          text={text}
          shownMax={pages * pageUsers}
          onMore={() => setPages(pages + 1)}
        />
      )}
      {isAdding && <NewUser onClose={() => setAdding(false)} onMade={reload} />}
    </div>
  );
}

function Found(props: {
  readonly page: Page<User>;
  readonly text: string;
  readonly shownMax: number;
  readonly onMore: () => void;
}): JSX.Element {
  const { page, text, shownMax, onMore } = props;
  const fitting = usersThatFit(page.items, text);
  const isPart = page.total > page.items.length;
  const exact = useResource(
    isPart && fitting.length === 0 && text.trim() !== '' ? `user named ${text.trim()}` : undefined,
    (signal) =>
      api.getJson<readonly User[]>({
        path: apiPaths.users,
        query: { username: text.trim(), limit: 1 },
        signal,
      }),
  );
  const found = fitting.length === 0 ? (exact.value ?? []) : fitting;
  const shown = found.slice(0, shownMax);
  return (
    <>
      <p class="quiet" role="status">
        {text.trim() === ''
          ? t('users.count', { count: page.total })
          : t('users.found', { shown: found.length, count: page.total })}
      </p>
      {shown.length === 0 && !exact.isLoading && <p class="empty quiet">{t('users.nobody')}</p>}
      {shown.length > 0 && (
        <ul class="menu">
          {shown.map((user) => (
            <li key={user.id}>
              <UserLine user={user} />
            </li>
          ))}
        </ul>
      )}
      {found.length > shown.length && (
        <button type="button" class="button button-wide" onClick={onMore}>
          {t('users.showMore')}
        </button>
      )}
      {isPart && <p class="quiet small">{t('users.tooMany', { count: page.items.length })}</p>}
    </>
  );
}

function UserLine({ user }: { readonly user: User }): JSX.Element {
  const name = fullName(user);
  const about = [
    ...(name === '' ? [] : [name]),
    ...(user.email === undefined ? [] : [user.email]),
    t('users.since', {
      date: formatDate(user.createdTime, { language: language.value, style: 'day' }),
    }),
  ];
  return (
    <a class="user-line" href={screenPaths.user(user.id)}>
      <span class="grow">
        <strong>{user.username}</strong>
        <br />
        <span class="quiet small">{about.join(' · ')}</span>
      </span>
      <span class="row small">
        {user.sms_credit !== undefined && (
          <span class="quiet">{t('users.creditLeft', { count: user.sms_credit })}</span>
        )}
        {user.admin === true && <span class="badge">{t('users.admin')}</span>}
        {user.disabled === true && <span class="badge is-alert">{t('users.disabled')}</span>}
      </span>
    </a>
  );
}

const passwordCharactersMin = 8;

function NewUser(props: {
  readonly onClose: () => void;
  readonly onMade: () => void;
}): JSX.Element {
  const { onClose, onMade } = props;
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [profile, setProfile] = useState<ProfileDraft>(emptyProfile);
  const action = useAction();
  const { route } = useLocation();
  async function create(event: Event): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') return action.fail(t('welcome.nameNeeded'));
    if (password.length < passwordCharactersMin) return action.fail(t('welcome.passwordShort'));
    let id = '';
    const isDone = await action.run(async () => {
      const json = {
        ...profileMessage(profile, { removesEmpty: false }),
        ...{ username: name.trim(), password },
      };
      id = await api.getJson<string>({ method: 'POST', path: apiPaths.users, json });
    });
    if (!isDone) return;
    showToast(t('users.created', { name: name.trim() }));
    onMade();
    route(screenPaths.user(id));
  }
  return (
    <Dialog title={t('users.new')} onClose={onClose}>
      <form class="form" onSubmit={create} noValidate>
        <TextField
          label={t('alerts.person')}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onValue={setName}
        />
        <TextField
          label={t('users.password')}
          type="password"
          autocomplete="new-password"
          hint={t('welcome.passwordHint')}
          value={password}
          onValue={setPassword}
        />
        <ProfileFields draft={profile} onDraft={setProfile} />
        <FormError text={action.error} />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('users.create')}
        </button>
      </form>
    </Dialog>
  );
}
