import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import { firstScopes, grantable, scopeWord } from '../../api/sharing-words.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { wordText } from '../../ui/grant-sentence.ts';
import { findUser } from './grants.tsx';
import { deviceTests, parallelMax, selectable } from './several.ts';

/** Gives one person the same rights on many devices; what they had there is replaced. */
export function ShareSeveral({ onShared }: { readonly onShared: () => void }): JSX.Element {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>(firstScopes.device);
  const action = useAction();

  async function share(event: Event): Promise<void> {
    event.preventDefault();
    const wanted = name.trim();
    if (chosen.size === 0) return action.fail(t('sharing.severalNone'));
    if (wanted === '') return action.fail(t('welcome.nameNeeded'));
    if (wanted === username.value) return action.fail(t('sharing.self'));
    let found: string | undefined;
    const isDone = await action.run(async () => {
      found = await findUser(wanted);
      if (found !== undefined) await putGrants([...chosen], found, scopes);
    });
    if (isDone && found === undefined) return action.fail(t('sharing.unknown', { name: wanted }));
    // Some may have been shared before one was refused.
    onShared();
    if (!isDone || found === undefined) return;
    showToast(t('sharing.severalDone', { count: chosen.size, name: found }));
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
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onValue={setName}
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
