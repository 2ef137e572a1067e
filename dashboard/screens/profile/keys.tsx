import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AccessKey } from '../../api/types.ts';
import { formatAge, formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { CopyBlock } from '../../ui/copy-block.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** Keys for machines: made, shown once, and ended. */
export function Keys(): JSX.Element {
  const { value, error, reload } = useResource(`keys ${username.value}`, (signal) =>
    api.getJson<readonly AccessKey[]>({ path: '/auth/keys', signal }),
  );
  return (
    <div class="stack">
      <p class="quiet">{t('profile.keysText')}</p>
      <NewKey onMade={reload} />
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={60} />}
      {value?.length === 0 && <p>{t('profile.keysNone')}</p>}
      <ul class="lines">
        {value?.map((key) => (
          <li key={key.id}>
            <KeyLine accessKey={key} onChange={reload} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function KeyLine({
  accessKey,
  onChange,
}: {
  readonly accessKey: AccessKey;
  readonly onChange: () => void;
}): JSX.Element {
  const { id, name, devices, scopes, expires, date_created } = accessKey;
  const action = useAction();
  const [isAsking, setAsking] = useState(false);
  async function end(): Promise<void> {
    const path = `/auth/keys/${encodeURIComponent(id)}`;
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    setAsking(false);
    if (!isDone) return;
    showToast(t('profile.keyDeleted', { name }));
    onChange();
  }
  const about = [
    t('profile.keyMade', { age: formatAge(Date.parse(date_created), now.value, t) }),
    ...(expires === undefined
      ? []
      : [
          t('profile.keyExpires', {
            date: formatDate(Date.parse(expires), { language: language.value, style: 'day' }),
          }),
        ]),
    ...(devices ?? []),
    ...(scopes ?? []),
  ];
  return (
    <div class="row row-apart">
      <span class="grow">
        <strong>{name}</strong>
        <br />
        <span class="quiet small">{about.join(' · ')}</span>
      </span>
      <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
        {t('profile.keyDelete')}
      </button>
      <FormError text={action.error} />
      {isAsking && (
        <ConfirmDialog
          title={t('profile.keyDelete')}
          text={t('profile.keyDeleteText', { name })}
          action={t('profile.keyDelete')}
          isBusy={action.isBusy}
          onConfirm={end}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

const scopesOf = {
  all: undefined,
  send: ['devices-data:create'],
  read: ['devices:view', 'devices-data:view'],
} as const;

function NewKey({ onMade }: { readonly onMade: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const [rights, setRights] = useState<keyof typeof scopesOf>('send');
  const [key, setKey] = useState<string>();
  const action = useAction();
  async function make(event: Event): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') return action.fail(t('profile.keyNameNeeded'));
    const scopes = scopesOf[rights];
    const json = { name: name.trim(), ...(scopes !== undefined && { scopes }) };
    const isDone = await action.run(async () => {
      const made = await api.request({ method: 'POST', path: '/auth/keys', json });
      setKey(((await made.json()) as { readonly key: string }).key);
    });
    if (!isDone) return;
    setName('');
    onMade();
  }
  return (
    <form class="form" onSubmit={make} noValidate>
      <div class="form-grid">
        <TextField
          label={t('profile.keyName')}
          hint={t('profile.keyNameHint')}
          error={action.error}
          autocomplete="off"
          value={name}
          onValue={setName}
        />
        <SelectField
          label={t('profile.keyRights')}
          value={rights}
          options={[
            { value: 'send', label: t('profile.keySend') },
            { value: 'read', label: t('profile.keyRead') },
            { value: 'all', label: t('profile.keyAll') },
          ]}
          onValue={setRights}
        />
      </div>
      <button type="submit" class="button tiles-add" disabled={action.isBusy}>
        {t('profile.keyMake')}
      </button>
      {key !== undefined && (
        <div class="note stack-tight" role="status">
          <p>{t('profile.keyShown')}</p>
          <CopyBlock text={key} label={t('profile.keys')} />
        </div>
      )}
    </form>
  );
}
