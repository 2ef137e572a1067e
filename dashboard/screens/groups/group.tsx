import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { apiPaths } from '../../api/paths.ts';
import { namesIn } from '../../api/people.ts';
import type { Group } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { type Action, useAction } from '../../state/action.ts';
import { sendPeople } from '../../state/people.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { isRefused, useStillThere } from '../../state/still-there.ts';
import { showToast } from '../../state/toasts.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { GivenToGroup } from '../sharing/given-to-group.tsx';
import { Invite } from '../sharing/invite.tsx';
import { PeopleField } from './people-field.tsx';

/** One group: who is in it, and what is shared with it. */
export function GroupScreen({ params }: ScreenProps): JSX.Element {
  const id = params['group'] ?? '';
  const group = useResource(`group ${username.value} ${id}`, (signal) =>
    api.getJson<Group>({ path: apiPaths.group(id), signal }),
  );
  const { value, error, reload } = group;
  const isGone = isRefused(error);
  useStillThere(value !== undefined && !isGone ? apiPaths.group(id) : undefined, reload);
  const title = value?.name;
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · Kipimo`;
  }, [title]);
  return (
    <div class="stack">
      <a href="/groups" class="back-link">
        <Icon name="back" />
        {t('groups.all')}
      </a>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={240} />}
      {value !== undefined && !isGone && (
        <>
          <h1>{value.name}</h1>
          <Members group={value} resource={group} />
          <GivenToGroup group={value.id}>
            <Invite thing={{ kind: 'group', id: value.id }} />
            <Rename key={value.name} group={value} onDone={reload} />
            <DeleteGroup group={value} />
          </GivenToGroup>
        </>
      )}
    </div>
  );
}

function Members(props: {
  readonly group: Group;
  readonly resource: Resource<Group>;
}): JSX.Element {
  const { group, resource } = props;
  const [text, setText] = useState('');
  const action = useAction();
  const path = `${apiPaths.group(group.id)}/usernames`;

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const names = namesIn(text);
    if (names.length === 0) return action.fail(t('welcome.nameNeeded'));
    const json = [...group.usernames, ...names];
    const isDone = await sendPeople(action, names, () => api.send({ method: 'PUT', path, json }));
    if (!isDone) return;
    setText('');
    resource.reload();
    showToast(t('groups.added', { count: names.length }));
  }

  return (
    <section class="stack-tight" aria-labelledby="who">
      <h2 id="who">
        {t('groups.who')}{' '}
        <span class="quiet small">{t('groups.members', { count: group.usernames.length })}</span>
      </h2>
      {group.usernames.length === 0 && <p class="quiet">{t('groups.nobody')}</p>}
      <ul class="menu">
        {group.usernames.map((name) => (
          <Member key={name} name={name} path={path} resource={resource} action={action} />
        ))}
      </ul>
      <form class="form" onSubmit={add} noValidate>
        <PeopleField value={text} onValue={setText} />
        <FormError text={action.error} />
        <button type="submit" class="button" disabled={action.isBusy}>
          <Icon name="plus" />
          {t('groups.addPeople')}
        </button>
      </form>
    </section>
  );
}

function Member(props: {
  readonly name: string;
  readonly path: string;
  readonly resource: Resource<Group>;
  readonly action: Action;
}): JSX.Element {
  const { name, resource, action } = props;
  const path = `${props.path}/${encodeURIComponent(name)}`;

  async function remove(): Promise<void> {
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    if (!isDone) return;
    resource.reload();
    showToast(t('groups.removed', { name }), {
      label: t('common.undo'),
      run: () => void restore(),
    });
  }

  async function restore(): Promise<void> {
    await action.run(() => api.send({ method: 'PUT', path, json: null }));
    resource.reload();
    showToast(t('groups.back', { name }));
  }

  return (
    <li class="row member-row">
      <span class="grow">{name}</span>
      <span>
        <button
          type="button"
          class="button button-quiet"
          disabled={action.isBusy}
          onClick={() => void remove()}
        >
          {t('groups.remove')} <span class="unseen">{name}</span>
        </button>
      </span>
    </li>
  );
}

function Rename(props: { readonly group: Group; readonly onDone: () => void }): JSX.Element {
  const { group, onDone } = props;
  const [name, setName] = useState(group.name);
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = name.trim();
    if (wanted === '') return action.fail(t('groups.nameMissing'));
    const path = `${apiPaths.group(group.id)}/name`;
    if (!(await action.run(() => api.send({ method: 'PUT', path, body: wanted })))) return;
    showToast(t('groups.renamed', { name: wanted }));
    onDone();
  }
  return (
    <details class="surface fold">
      <summary>{t('groups.rename')}</summary>
      <form class="form" onSubmit={save} noValidate>
        <TextField label={t('groups.name')} value={name} onValue={setName} autocomplete="off" />
        <FormError text={action.error} />
        <button type="submit" class="button" disabled={action.isBusy}>
          {t('common.save')}
        </button>
      </form>
    </details>
  );
}

function DeleteGroup({ group }: { readonly group: Group }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const { route } = useLocation();
  async function remove(): Promise<void> {
    const isDone = await action.run(() =>
      api.send({ method: 'DELETE', path: apiPaths.group(group.id) }),
    );
    setAsking(false);
    if (!isDone) return;
    showToast(t('groups.deleted'));
    route('/groups', true);
  }
  return (
    <div>
      <FormError text={action.error} />
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        {t('groups.delete')}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={t('groups.delete')}
          text={t('groups.deleteText', { name: group.name })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
