import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import {
  firstScopes,
  grantable,
  type ScopeWord,
  type SharedKind,
  scopeWord,
} from '../../api/sharing-words.ts';
import type { Grant, User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { grantSentence, wordText } from '../../ui/grant-sentence.ts';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** Something that is shared, by its address. */
export interface SharedThing {
  readonly kind: SharedKind;
  readonly id: string;
  /** What is said while it is shared with nobody. */
  readonly aloneText: string;
}

const grantsPath = ({ kind, id }: SharedThing): string => `${apiPaths[kind](id)}/grants`;

const grantPath = (thing: SharedThing, name: string): string =>
  `${grantsPath(thing)}/${encodeURIComponent(name)}`;

/** Who may do what with a thing; every switch works at once. */
export function Grants({ thing }: { readonly thing: SharedThing }): JSX.Element {
  const { kind, id } = thing;
  // Devices came first; their screen counts what is kept under this key.
  const key = kind === 'device' ? `grants ${id}` : `grants ${kind} ${id}`;
  const grants = useResource(key, (signal) =>
    api.getJson<readonly Grant[]>({ path: grantsPath(thing), signal }),
  );
  const { value, error, reload } = grants;
  return (
    <>
      <AddPerson thing={thing} grants={grants} />
      <section class="stack-tight" aria-labelledby="people">
        <h2 id="people">{t('sharing.with')}</h2>
        {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
        {value === undefined && error === undefined && <Skeleton height={120} />}
        {value?.length === 0 && <p class="quiet">{thing.aloneText}</p>}
        {value?.map((grant) => (
          <GrantCard key={grant.username} thing={thing} grant={grant} grants={grants} />
        ))}
      </section>
    </>
  );
}

type Grants = Resource<readonly Grant[]>;

function replaced(grants: Grants, name: string, scopes: readonly string[]): void {
  const others = (grants.value ?? []).filter((grant) => grant.username !== name);
  const place = (grants.value ?? []).findIndex((grant) => grant.username === name);
  const at = place < 0 ? others.length : place;
  const own = scopes.length === 0 ? [] : [{ username: name, scopes }];
  grants.set([...others.slice(0, at), ...own, ...others.slice(at)]);
}

function GrantCard(props: {
  readonly thing: SharedThing;
  readonly grant: Grant;
  readonly grants: Grants;
}): JSX.Element {
  const { thing, grant, grants } = props;
  const action = useAction();
  const name = grant.username;
  const path = grantPath(thing, name);
  const known = grantable[thing.kind];

  async function change(scope: string, isOn: boolean): Promise<void> {
    const scopes = known.filter((one) => (one === scope ? isOn : grant.scopes.includes(one)));
    replaced(grants, name, scopes);
    if (scopes.length === 0) return revoke();
    const isDone = await action.run(() => api.send({ method: 'PUT', path, json: scopes }));
    if (!isDone) replaced(grants, name, grant.scopes);
  }

  async function revoke(): Promise<void> {
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    if (!isDone) return replaced(grants, name, grant.scopes);
    replaced(grants, name, []);
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
      {kind === 'device' && word !== 'view' && word !== 'data-view' && (
        <span class="quiet small"> · {t(`sharing.${word}Hint`)}</span>
      )}
    </span>
  );
}

function AddPerson(props: { readonly thing: SharedThing; readonly grants: Grants }): JSX.Element {
  const { thing, grants } = props;
  const [name, setName] = useState('');
  const action = useAction();

  async function add(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = name.trim();
    if (wanted === '') return action.fail(t('welcome.nameNeeded'));
    if (wanted === username.value) return action.fail(t('sharing.self'));
    let found: string | undefined;
    const isDone = await action.run(async () => {
      found = await findUser(wanted);
      if (found === undefined) return;
      const known = grants.value?.find((grant) => grant.username === found);
      const scopes = known?.scopes ?? firstScopes[thing.kind];
      await api.send({ method: 'PUT', path: grantPath(thing, found), json: scopes });
      replaced(grants, found, scopes);
    });
    if (isDone && found === undefined) action.fail(t('sharing.unknown', { name: wanted }));
    if (isDone && found !== undefined) setName('');
  }

  return (
    <form class="stack-tight" onSubmit={add} noValidate>
      <div class="add-person">
        <TextField
          label={t('sharing.person')}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onValue={setName}
        />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          <Icon name="plus" />
          {t('sharing.add')}
        </button>
      </div>
      <FormError text={action.error} />
    </form>
  );
}

/** The name as the service spells it; undefined when nobody has it. */
export async function findUser(name: string): Promise<string | undefined> {
  const [user] = await api.getJson<readonly User[]>({
    path: '/users',
    query: { username: name, limit: 1 },
  });
  return user?.username;
}
