import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api, username } from '../../state/session.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';

/** To whom messages go. */
export function Recipients(props: {
  readonly chosen: readonly string[];
  readonly onChosen: (usernames: readonly string[]) => void;
}): JSX.Element {
  const { chosen, onChosen } = props;
  const [name, setName] = useState('');
  const action = useAction();
  const me = username.value;

  const latest = useRef(chosen);
  latest.current = chosen;
  const isName = (one: string) => (other: string) => other.toLowerCase() === one.toLowerCase();

  /** Takes the name at once, so that a form that is sent right away has it; then looks it up. */
  async function add(wanted: string): Promise<void> {
    if (wanted === '') return action.fail(undefined);
    setName('');
    if (chosen.some(isName(wanted))) return;
    onChosen([...chosen, wanted]);
    let found: string | undefined;
    const isDone = await action.run(async () => {
      const [user] = await api.getJson<readonly User[]>({
        path: '/users',
        query: { username: wanted, limit: 1 },
      });
      found = user?.username;
    });
    if (!isDone || found === wanted) return;
    const others = latest.current.filter((one) => one !== wanted);
    onChosen(found === undefined ? others : [...others, found]);
    if (found !== undefined) return;
    setName(wanted);
    action.fail(t('sharing.unknown', { name: wanted }));
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
