import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { namesIn } from '../../api/people.ts';
import { firstScopes, grantable, scopeWord } from '../../api/sharing-words.ts';
import type { Grant } from '../../api/types.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useGroups } from '../../state/groups.ts';
import { findUser } from '../../state/people.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { wordText } from '../../ui/grant-sentence.ts';
import { Icon } from '../../ui/icons.tsx';
import { DeviceChoice } from './device-choice.tsx';
import { type Grantee, granteeName, grantPath, unknownSentence } from './grants.tsx';

/** Grants that are sent at a time. */
const parallelMax = 4;

/** Gives people and groups the same rights on many devices; what they had there is replaced. */
export function ShareSeveral({ onShared }: { readonly onShared: () => void }): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState('');
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set());
  const [scopes, setScopes] = useState<readonly string[]>(firstScopes.device);
  const [isOpen, setOpen] = useState(false);
  const choose = (id: string, isOn: boolean) =>
    setGroups(new Set(isOn ? [...groups, id] : [...groups].filter((one) => one !== id)));
  const known = useGroups().value ?? [];
  const action = useAction();

  async function share(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = namesIn(text);
    if (chosen.size === 0) return action.fail(t('sharing.severalNone'));
    if (wanted.length + groups.size === 0) return action.fail(t('sharing.severalWhom'));
    if (wanted.some((name) => name === username.value)) return action.fail(t('sharing.self'));
    const found: Omit<Grant, 'scopes'>[] = known
      .filter(({ id }) => groups.has(id))
      .map(({ id, name }) => ({ group: id, name }));
    const unknown: string[] = [];
    const isDone = await action.run(async () => {
      for (const name of wanted) {
        const user = await findUser(name);
        if (user === undefined) unknown.push(name);
        else found.push({ username: user });
      }
      for (const grantee of found) await putGrants([...chosen], grantee, scopes);
    });
    // Some may have been shared before one was refused.
    onShared();
    if (isDone && unknown.length > 0) action.fail(unknownSentence(unknown, wanted.length));
    if (!isDone || found.length === 0) return;
    setText(unknown.join(', '));
    const names = new Intl.ListFormat(language.value).format(found.map(granteeName));
    showToast(t('sharing.severalDone', { count: chosen.size, name: names }));
    // Who was not found yet gets the same devices.
    if (unknown.length === 0) setChosen(new Set());
    setGroups(new Set());
  }

  return (
    <details class="surface fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('sharing.several')}</summary>
      <form class="form" onSubmit={share} noValidate>
        {isOpen && <DeviceChoice chosen={chosen} onChange={setChosen} />}
        <TextField
          label={t('sharing.person')}
          hint={t('sharing.personHint')}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onValue={setText}
        />
        {known.length > 0 && (
          <fieldset class="fieldset group-choice">
            <legend>{t('sharing.withGroup')}</legend>
            <div class="chips">
              {known.map(({ id, name }) => (
                <button
                  key={id}
                  type="button"
                  class="chip"
                  aria-pressed={groups.has(id)}
                  onClick={() => choose(id, !groups.has(id))}
                >
                  {groups.has(id) && <Icon name="check" />}
                  {name}
                </button>
              ))}
            </div>
          </fieldset>
        )}
        <ScopeChoice scopes={scopes} onChange={setScopes} />
        <FormError text={action.error} />
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('sharing.severalDo', { count: chosen.size })}
        </button>
      </form>
    </details>
  );
}

async function putGrants(
  devices: readonly string[],
  grantee: Grantee,
  scopes: readonly string[],
): Promise<void> {
  const line = devices.values();
  const work = async () => {
    for (const id of line) {
      const path = grantPath({ kind: 'device', id }, grantee);
      await api.send({ method: 'PUT', path, json: scopes });
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
}

function ScopeChoice(props: {
  readonly scopes: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}): JSX.Element {
  const { scopes, onChange } = props;
  return (
    <ul>
      {grantable.device.map((scope) => (
        <li key={scope}>
          <label class="choice switch-row">
            <span class="grow">{wordText(scopeWord(scope) ?? 'view', 'device')}</span>
            <input
              type="checkbox"
              class="switch"
              checked={scopes.includes(scope)}
              onChange={(event) => {
                const isOn = event.currentTarget.checked;
                onChange(
                  grantable.device.filter((one) => (one === scope ? isOn : scopes.includes(one))),
                );
              }}
            />
          </label>
        </li>
      ))}
    </ul>
  );
}
