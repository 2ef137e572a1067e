import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Page } from '../../api/client.ts';
import { screenPaths } from '../../api/paths.ts';
import type { ImportedUser, User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { Resource } from '../../state/resource.ts';
import { username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { activityOf } from './activity.ts';
import { SeveralUsers } from './several-users.tsx';
import { fullName } from './user-words.ts';

/** Accounts of a view, of which several are chosen to be changed at once. */
export function UserList(props: {
  readonly list: Resource<Page<User>>;
  /** Absent: the list is as long as it gets. */
  readonly onMore: (() => void) | undefined;
  readonly onSlips: (people: readonly ImportedUser[]) => void;
}): JSX.Element {
  const { list, onMore, onSlips } = props;
  const { error, reload } = list;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // A longer list is loaded behind the one that shows.
  const before = useRef<Page<User>>(undefined);
  if (list.value !== undefined) before.current = list.value;
  const page = list.value ?? before.current;
  if (page === undefined) {
    return error === undefined ? (
      <Skeleton height={320} />
    ) : (
      <ErrorBox error={error} onRetry={reload} />
    );
  }
  const others = page.items.filter((user) => user.username !== username.value);
  const people = others.filter(({ id }) => chosen.has(id));
  const change = (ids: readonly string[], isOn: boolean) =>
    setChosen(new Set(isOn ? [...chosen, ...ids] : [...chosen].filter((id) => !ids.includes(id))));
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      <p class="quiet" role="status">
        {t('users.count', { count: page.total })}
      </p>
      {page.items.length === 0 && <p class="empty quiet">{t('users.nobody')}</p>}
      {others.length > 0 && (
        <div class="user-choice">
          <label class="choice">
            <input
              type="checkbox"
              checked={people.length === others.length}
              onChange={(event) =>
                change(
                  others.map(({ id }) => id),
                  event.currentTarget.checked,
                )
              }
            />
            {t('users.chooseAll', { count: others.length })}
          </label>
          {people.length > 0 && (
            <SeveralUsers
              people={people}
              onDone={(slips) => {
                setChosen(new Set());
                reload();
                if (slips.length > 0) onSlips(slips);
              }}
            />
          )}
        </div>
      )}
      {page.items.length > 0 && (
        <ul class="menu">
          {page.items.map((user) => (
            <li key={user.id} class="user-row">
              <input
                type="checkbox"
                aria-label={t('users.choose', { name: user.username })}
                disabled={user.username === username.value}
                checked={chosen.has(user.id)}
                onChange={(event) => change([user.id], event.currentTarget.checked)}
              />
              <UserLine user={user} />
            </li>
          ))}
        </ul>
      )}
      {page.total > page.items.length &&
        (onMore === undefined ? (
          <p class="quiet small">{t('users.tooMany', { count: page.items.length })}</p>
        ) : (
          <button type="button" class="button button-wide" onClick={onMore}>
            {t('users.showMore')}
          </button>
        ))}
    </>
  );
}

function UserLine({ user }: { readonly user: User }): JSX.Element {
  const about = [fullName(user), user.email ?? ''].filter((text) => text !== '');
  return (
    <a class="user-line" href={screenPaths.user(user.id)}>
      <span class="grow">
        <strong>{user.username}</strong>
        {about.length > 0 && <span class="quiet small"> {about.join(' · ')}</span>}
        <br />
        <span class="quiet small">{activityOf(user)}</span>
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
