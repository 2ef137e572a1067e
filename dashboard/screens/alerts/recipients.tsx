import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api, username } from '../../state/session.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';

/** To whom messages go; a name is looked up before it is taken. */
export function Recipients(props: {
  readonly chosen: readonly string[];
  readonly onChosen: (usernames: readonly string[]) => void;
}): JSX.Element {
  const { chosen, onChosen } = props;
  const [name, setName] = useState('');
  const action = useAction();
  const me = username.value;

  async function add(wanted: string): Promise<void> {
    if (wanted === '') return action.fail(undefined);
    let found: string | undefined;
    const isDone = await action.run(async () => {
      const [user] = await api.getJson<readonly User[]>({
        path: '/users',
        query: { username: wanted, limit: 1 },
      });
      found = user?.username;
    });
    if (!isDone) return;
    if (found === undefined) return action.fail(t('sharing.unknown', { name: wanted }));
    setName('');
    if (!chosen.includes(found)) onChosen([...chosen, found]);
  }

  return (
    <div class="stack-tight">
      <div class="row">
        {chosen.map((one) => (
          <button
            key={one}
            type="button"
            class="chip"
            onClick={() => onChosen(chosen.filter((other) => other !== one))}
          >
            {one === me ? t('alerts.me', { name: one }) : one}
            <span class="unseen">: {t('alerts.removePerson', { name: one })}</span>
            <Icon name="close" />
          </button>
        ))}
        <span class="row">
          <input
            class="blank blank-name"
            type="text"
            aria-label={t('alerts.person')}
            placeholder={t('alerts.person')}
            autocapitalize="none"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
            onBlur={() => void add(name.trim())}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // Adds the person instead of sending the form.
              event.preventDefault();
              void add(name.trim());
            }}
          />
          <button
            type="button"
            class="button button-quiet"
            disabled={action.isBusy}
            onClick={() => void add(name.trim())}
          >
            <Icon name="plus" />
            {t('common.add')}
          </button>
        </span>
      </div>
      {me !== undefined && !chosen.includes(me) && (
        <button
          type="button"
          class="button button-quiet tiles-add"
          onClick={() => onChosen([...chosen, me])}
        >
          <Icon name="plus" />
          {t('alerts.me', { name: me })}
        </button>
      )}
      <FormError text={action.error} />
    </div>
  );
}
