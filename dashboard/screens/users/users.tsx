import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import { emptyProfile, type ProfileDraft, profileMessage } from '../../api/profile.ts';
import { queryText } from '../../api/query-text.ts';
import type { ImportedUser, User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin, isRoleKnown } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProfileFields } from '../../ui/profile-fields.tsx';
import { ScreenSkeleton } from '../../ui/skeleton.tsx';
import { useDelayed } from '../home/use-delayed.ts';
import { Slips } from './slips.tsx';
import { UserList } from './user-list.tsx';
import {
  inactiveDays,
  mayBeLonger,
  queryOf,
  readView,
  type Show,
  shows,
  type UserView,
  viewPath,
} from './user-view.ts';

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
  const { query, route } = useLocation();
  const view = readView(query);
  const [isAdding, setAdding] = useState(false);
  const [slips, setSlips] = useState<readonly ImportedUser[]>([]);
  const asked = queryOf(view, now.peek());
  const list = useResource(`users${queryText(asked)}`, (signal) =>
    api.getPage<User>({ path: apiPaths.users, query: asked, signal }),
  );
  if (slips.length > 0) return <NewSlips people={slips} onDone={() => setSlips([])} />;
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
      <UserFilters view={view} onView={(next) => route(viewPath(next), true)} />
      <UserList
        key={viewPath({ ...view, pages: 1 })}
        list={list}
        onMore={
          mayBeLonger(view)
            ? () => route(viewPath({ ...view, pages: view.pages + 1 }), true)
            : undefined
        }
        onSlips={setSlips}
      />
      {isAdding && <NewUser onClose={() => setAdding(false)} onMade={list.reload} />}
    </div>
  );
}

function UserFilters(props: {
  readonly view: UserView;
  readonly onView: (view: UserView) => void;
}): JSX.Element {
  const { view, onView } = props;
  const { typed, type } = useDelayed(view.text, (text) => onView({ ...view, text, pages: 1 }));
  return (
    <search class="user-filters">
      <TextField
        label={t('users.search')}
        hint={t('users.searchHint')}
        type="search"
        autocapitalize="none"
        autocomplete="off"
        value={typed}
        onValue={type}
      />
      <SelectField
        label={t('users.show')}
        value={view.show}
        options={shows.map((show) => ({ value: show, label: showText(show) }))}
        onValue={(show) => onView({ ...view, show, pages: 1 })}
      />
    </search>
  );
}

function showText(show: Show): string {
  const days = inactiveDays[show];
  if (days !== undefined) return t('users.showInactive', { count: days });
  if (show === 'never') return t('users.showNever');
  if (show === 'admins') return t('users.showAdmins');
  return t(show === 'locked' ? 'users.showLocked' : 'users.showAll');
}

/** The slips of those who were just given new passwords. */
function NewSlips(props: {
  readonly people: readonly ImportedUser[];
  readonly onDone: () => void;
}): JSX.Element {
  const { people, onDone } = props;
  return (
    <div class="stack">
      <h1>{t('users.newPasswords')}</h1>
      <Slips people={people} />
      <button type="button" class="button" onClick={onDone}>
        {t('users.slipsDone')}
      </button>
    </div>
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
