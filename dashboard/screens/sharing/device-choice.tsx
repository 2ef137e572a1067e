import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n/i18n.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useFoundDevices } from '../home/found-devices.ts';
import { useDelayed } from '../home/use-delayed.ts';

/** As many as one can read; a longer list is narrowed by the search. */
const shownMax = 200;

/** The own devices to choose from, searched by words in any order. */
export function DeviceChoice(props: {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}): JSX.Element {
  const { chosen, onChange } = props;
  const [text, setText] = useState('');
  const { typed, type } = useDelayed(text, setText);
  const view = { whose: 'mine' as const, ...(text !== '' && { text }) };
  const { value, error, reload } = useFoundDevices(view, 'lines').found;
  const shown = (value?.devices ?? []).slice(0, shownMax);
  const change = (ids: readonly string[], isOn: boolean) =>
    onChange(new Set(isOn ? [...chosen, ...ids] : [...chosen].filter((id) => !ids.includes(id))));
  return (
    <>
      <TextField label={t('sharing.severalSearch')} value={typed} onValue={type} />
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={120} />}
      {value !== undefined && shown.length === 0 && <p class="quiet">{t('home.nothingFound')}</p>}
      <fieldset class="fieldset">
        <legend>{t('sharing.severalWhich')}</legend>
        {value !== undefined && value.total > shown.length && (
          <p class="quiet small" role="status">
            {t('home.shownOf', { shown: shown.length, count: value.total })}
          </p>
        )}
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
    </>
  );
}
