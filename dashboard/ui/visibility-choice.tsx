import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';

/** Who can see a thing, in words. */
export function VisibilityChoice(props: {
  readonly value: 'public' | 'private';
  readonly onValue: (value: 'public' | 'private') => void;
}): JSX.Element {
  const name = useId();
  return (
    <fieldset class="fieldset">
      <legend>{t('device.visibility')}</legend>
      {(['private', 'public'] as const).map((choice) => (
        <label class="choice" key={choice}>
          <input
            type="radio"
            name={name}
            checked={props.value === choice}
            onChange={() => props.onValue(choice)}
          />
          {t(`device.${choice}`)}
        </label>
      ))}
    </fieldset>
  );
}
