import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import { namesIn } from '../../api/people.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useGroups } from '../../state/groups.ts';
import { sendPeople } from '../../state/people.ts';
import { api } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { PeopleField } from './people-field.tsx';

/** The own groups of people. */
export function Groups(): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const { value, error, reload } = useGroups();
  return (
    <div class="stack">
      <a href="/sharing" class="back-link">
        <Icon name="back" />
        {t('sharing.mine')}
      </a>
      <header class="screen-head">
        <h1>{t('groups.title')}</h1>
        <button type="button" class="button" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          {t('groups.add')}
        </button>
      </header>
      <p class="quiet">{t('groups.text')}</p>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={160} />}
      {value?.length === 0 && (
        <div class="empty">
          <h2>{t('groups.none')}</h2>
        </div>
      )}
      {value !== undefined && value.length > 0 && (
        <ul class="menu">
          {value.map(({ id, name, usernames }) => (
            <li key={id}>
              <a href={screenPaths.group(id)}>
                <Icon name="sharing" />
                <span class="grow">{name}</span>
                <span class="quiet small">{t('groups.members', { count: usernames.length })}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {isAdding && <NewGroup onClose={() => setAdding(false)} />}
    </div>
  );
}

function NewGroup({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const [people, setPeople] = useState('');
  const action = useAction();
  const { route } = useLocation();
  async function add(event: Event): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') return action.fail(t('groups.nameMissing'));
    let id = '';
    const usernames = namesIn(people);
    const isDone = await sendPeople(action, usernames, async () => {
      const json = { name: name.trim(), usernames };
      id = await api.send({ method: 'POST', path: apiPaths.groups, json });
    });
    if (isDone) route(screenPaths.group(id));
  }
  return (
    <Dialog title={t('groups.add')} onClose={onClose}>
      <form class="form" onSubmit={add} noValidate>
        <TextField label={t('groups.name')} value={name} onValue={setName} autocomplete="off" />
        <PeopleField value={people} onValue={setPeople} />
        <FormError text={action.error} />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('groups.add')}
        </button>
      </form>
    </Dialog>
  );
}
