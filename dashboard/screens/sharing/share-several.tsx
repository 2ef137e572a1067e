import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import { namesIn } from '../../api/people.ts';
import { firstScopes, grantable, scopeWord } from '../../api/sharing-words.ts';
import type { Device } from '../../api/types.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { findUser } from '../../state/people.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { wordText } from '../../ui/grant-sentence.ts';
import { unknownSentence } from './grants.tsx';
import { deviceTests, parallelMax, selectable } from './several.ts';

/** Gives one person the same rights on many devices; what they had there is replaced. */
export function ShareSeveral({ onShared }: { readonly onShared: () => void }): JSX.Element {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>(firstScopes.device);
  const action = useAction();

  async function share(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = namesIn(text);
    if (chosen.size === 0) return action.fail(t('sharing.severalNone'));
    if (wanted.length === 0) return action.fail(t('welcome.nameNeeded'));
    if (wanted.some((name) => name === username.value)) return action.fail(t('sharing.self'));
    const [found, unknown]: [string[], string[]] = [[], []];
    const isDone = await action.run(async () => {
      for (const name of wanted) {
        const known = await findUser(name);
        if (known === undefined) unknown.push(name);
        else found.push(known);
      }
      for (const name of found) await putGrants([...chosen], name, scopes);
    });
    // Some may have been shared before one was refused.
    onShared();
    if (isDone && unknown.length > 0) action.fail(unknownSentence(unknown, wanted.length));
    if (!isDone || found.length === 0) return;
    setText(unknown.join(', '));
    const names = new Intl.ListFormat(language.value).format(found);
    showToast(t('sharing.severalDone', { count: chosen.size, name: names }));
    setChosen(new Set());
  }

  return (
    <details class="surface fold">
      <summary>{t('sharing.several')}</summary>
      <form class="form" onSubmit={share} noValidate>
        <TextField label={t('sharing.severalSearch')} value={search} onValue={setSearch} />
        <DeviceChoice search={search} chosen={chosen} onChange={setChosen} />
        <TextField
          label={t('sharing.person')}
          hint={t('sharing.personHint')}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onValue={setText}
        />
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
  name: string,
  scopes: readonly string[],
): Promise<void> {
  const line = devices.values();
  const work = async () => {
    for (const id of line) {
      const path = `${apiPaths.device(id)}/grants/${encodeURIComponent(name)}`;
      await api.send({ method: 'PUT', path, json: scopes });
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
}

function DeviceChoice(props: {
  readonly search: string;
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}): JSX.Element {
  const { search, chosen, onChange } = props;
  const owner = username.value ?? '';
  const { value, error, reload } = useResource(`devices to share ${owner}`, (signal) =>
    api.getJson<readonly Device[]>({ path: '/devices', query: deviceTests(owner), signal }),
  );
  const shown = selectable(value ?? [], search);
  const change = (ids: readonly string[], isOn: boolean) =>
    onChange(new Set(isOn ? [...chosen, ...ids] : [...chosen].filter((id) => !ids.includes(id))));
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  return (
    <fieldset class="fieldset">
      <legend>{t('sharing.severalWhich')}</legend>
      <div class="choices">
        {shown.length > 1 && (
          <label class="choice">
            <input
              type="checkbox"
              checked={shown.every(({ id }) => chosen.has(id))}
              onChange={(event) =>
                change(
                  shown.map(({ id }) => id),
                  event.currentTarget.checked,
                )
              }
            />
            {t('sharing.severalAll')}
          </label>
        )}
        {shown.map(({ id, name }) => (
          <label key={id} class="choice">
            <input
              type="checkbox"
              checked={chosen.has(id)}
              onChange={(event) => change([id], event.currentTarget.checked)}
            />
            {name ?? id}
          </label>
        ))}
      </div>
    </fieldset>
  );
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
