import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import { granteeKey, namesIn } from '../../api/people.ts';
import {
  firstScopes,
  grantable,
  type ScopeWord,
  type SharedKind,
  scopeWord,
} from '../../api/sharing-words.ts';
import type { Grant, Group } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useGroups } from '../../state/groups.ts';
import { findUser } from '../../state/people.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { grantSentence, wordText } from '../../ui/grant-sentence.ts';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** What a grant is about, by its address. */
interface GrantedThing {
  readonly kind: SharedKind;
  readonly id: string;
}

/** Something that is shared. */
export interface SharedThing extends GrantedThing {
  /** What is said while it is shared with nobody. */
  readonly aloneText: string;
}

const grantsPath = ({ kind, id }: GrantedThing): string => `${apiPaths[kind](id)}/grants`;

/** A user or a group. */
export type Grantee = Pick<Grant, 'username' | 'group'>;

/** Where the grant to a user or group is set. */
export function grantPath(thing: GrantedThing, { username: name, group = '' }: Grantee): string {
  const to = name === undefined ? `groups/${encodeURIComponent(group)}` : encodeURIComponent(name);
  return `${grantsPath(thing)}/${to}`;
}

/** A user, or "group Class 4B". */
export function granteeName({ username: name, group, name: groupName }: Omit<Grant, 'scopes'>) {
  return name ?? t('sharing.groupName', { name: groupName ?? group ?? '' });
}

/** Who may do what with a thing; every switch works at once. */
export function Grants({
  thing,
  children,
}: {
  readonly thing: SharedThing;
  /** Stands below the grants once they are there, so that nothing moves. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const { kind, id } = thing;
  // Devices came first; their screen counts what is kept under this key.
  const key = kind === 'device' ? `grants ${id}` : `grants ${kind} ${id}`;
  const grants = useResource(key, (signal) =>
    api.getJson<readonly Grant[]>({ path: grantsPath(thing), signal }),
  );
  const { value, error, reload } = grants;
  const groups = useGroups();
  // The own groups stand above the people, without those that have it: both are there at once, so
  // that nothing moves.
  const isReady = [grants, groups].every(
    (one) => one.value !== undefined || one.error !== undefined,
  );
  if (!isReady) return <Skeleton height={320} />;
  return (
    <>
      <AddPerson thing={thing} grants={grants} groups={groups.value ?? []} />
      <section class="stack-tight" aria-labelledby="people">
        <h2 id="people">{t('sharing.with')}</h2>
        {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
        {value?.length === 0 && <p class="quiet">{thing.aloneText}</p>}
        {value?.map((grant) => (
          <GrantCard key={granteeKey(grant)} thing={thing} grant={grant} grants={grants} />
        ))}
      </section>
      {children}
    </>
  );
}

type Grants = Resource<readonly Grant[]>;

function replaced(grants: Grants, changed: Grant): void {
  const known = grants.value ?? [];
  const isIt = (grant: Grant): boolean => granteeKey(grant) === granteeKey(changed);
  const place = known.findIndex(isIt);
  const others = known.filter((grant) => !isIt(grant));
  const at = place < 0 ? others.length : place;
  const own = changed.scopes.length === 0 ? [] : [changed];
  grants.set([...others.slice(0, at), ...own, ...others.slice(at)]);
}

function GrantCard(props: {
  readonly thing: SharedThing;
  readonly grant: Grant;
  readonly grants: Grants;
}): JSX.Element {
  const { thing, grant, grants } = props;
  const action = useAction();
  const name = granteeName(grant);
  const path = grantPath(thing, grant);
  const known = grantable[thing.kind];

  async function change(scope: string, isOn: boolean): Promise<void> {
    const scopes = known.filter((one) => (one === scope ? isOn : grant.scopes.includes(one)));
    replaced(grants, { ...grant, scopes });
    if (scopes.length === 0) return revoke();
    const isDone = await action.run(() => api.send({ method: 'PUT', path, json: scopes }));
    if (!isDone) replaced(grants, grant);
  }

  async function revoke(): Promise<void> {
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    if (!isDone) return replaced(grants, grant);
    replaced(grants, { ...grant, scopes: [] });
    showToast(t('sharing.revoked', { name }), {
      label: t('common.undo'),
      run: () => void restore(),
    });
  }

  async function restore(): Promise<void> {
    await action.run(() => api.send({ method: 'PUT', path, json: grant.scopes }));
    grants.reload();
    showToast(t('sharing.restored', { name }));
  }

  return (
    <article class="surface stack-tight" aria-label={name}>
      <p class="grant-sentence">{grantSentence(name, grant.scopes, thing.kind)}</p>
      <ul>
        {known.map((scope) => (
          <li key={scope}>
            <label class="choice switch-row">
              <SwitchText word={scopeWord(scope) ?? 'view'} kind={thing.kind} />
              <input
                type="checkbox"
                class="switch"
                checked={grant.scopes.includes(scope)}
                disabled={action.isBusy}
                onChange={(event) => void change(scope, event.currentTarget.checked)}
              />
            </label>
          </li>
        ))}
      </ul>
      <FormError text={action.error} />
      <button
        type="button"
        class="button button-danger tiles-add"
        disabled={action.isBusy}
        onClick={() => void revoke()}
      >
        <Icon name="close" />
        {t('sharing.revoke')}
      </button>
    </article>
  );
}

function SwitchText({
  word,
  kind,
}: {
  readonly word: ScopeWord;
  readonly kind: SharedKind;
}): JSX.Element {
  return (
    <span class="grow">
      {wordText(word, kind)}
      {(kind === 'device' || word === 'data-create') && word !== 'view' && word !== 'data-view' && (
        <span class="quiet small"> · {t(`sharing.${word}Hint`)}</span>
      )}
    </span>
  );
}

function AddPerson(props: {
  readonly thing: SharedThing;
  readonly grants: Grants;
  readonly groups: readonly Group[];
}): JSX.Element {
  const { thing, grants, groups } = props;
  const [text, setText] = useState('');
  const action = useAction();
  const known = grants.value ?? [];

  async function share(grantee: Omit<Grant, 'scopes'>): Promise<void> {
    const before = known.find((grant) => granteeKey(grant) === granteeKey(grantee));
    const scopes = before?.scopes ?? firstScopes[thing.kind];
    await api.send({ method: 'PUT', path: grantPath(thing, grantee), json: scopes });
  }

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = namesIn(text);
    if (wanted.length === 0) return action.fail(t('welcome.nameNeeded'));
    if (wanted.some((name) => name === username.value)) return action.fail(t('sharing.self'));
    const unknown: string[] = [];
    const isDone = await action.run(async () => {
      for (const name of wanted) {
        const found = await findUser(name);
        if (found === undefined) unknown.push(name);
        else await share({ username: found });
      }
    });
    grants.reload();
    if (!isDone) return;
    setText(unknown.join(', '));
    if (unknown.length > 0) return action.fail(unknownSentence(unknown, wanted.length));
    if (wanted.length > 1) showToast(t('sharing.several-done', { count: wanted.length }));
  }

  async function addGroup(group: Group): Promise<void> {
    await action.run(() => share({ group: group.id }));
    grants.reload();
  }

  return (
    <form class="stack-tight" onSubmit={add} noValidate>
      <div class="add-person">
        <TextField
          label={t('sharing.person')}
          hint={t('sharing.personHint')}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onValue={setText}
        />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          <Icon name="plus" />
          {t('sharing.add')}
        </button>
      </div>
      <FormError text={action.error} />
      <GroupChoice
        groups={groups}
        isTaken={({ id }) => known.some(({ group }) => group === id)}
        isBusy={action.isBusy}
        onGroup={(group) => void addGroup(group)}
      />
    </form>
  );
}

/** Who of those that were typed has no account. */
export function unknownSentence(unknown: readonly string[], wanted: number): string {
  const [name = ''] = unknown;
  if (unknown.length === 1 && wanted === 1) return t('sharing.unknown', { name });
  return t('sharing.unknownSome', { names: unknown.join(', ') });
}

/** The own groups, to share with by one tap. */
function GroupChoice(props: {
  readonly groups: readonly Group[];
  readonly isTaken: (group: Group) => boolean;
  readonly isBusy: boolean;
  readonly onGroup: (group: Group) => void;
}): JSX.Element {
  const { groups } = props;
  const offered = groups.filter((group) => !props.isTaken(group));
  return (
    <fieldset class="row group-choice" aria-label={t('sharing.withGroup')}>
      {offered.length > 0 && <span class="quiet">{t('sharing.withGroup')}</span>}
      {offered.map((group) => (
        <button
          key={group.id}
          type="button"
          class="chip"
          disabled={props.isBusy}
          onClick={() => props.onGroup(group)}
        >
          {group.name}
        </button>
      ))}
      {groups.length === 0 && <a href="/groups">{t('sharing.noGroups')}</a>}
    </fieldset>
  );
}
