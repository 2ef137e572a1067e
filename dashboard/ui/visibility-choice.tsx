import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { pageSettings } from '../state/page-settings.ts';

type Kind = 'device' | 'gateway';

/** Who can see a thing, in words. */
export function VisibilityChoice(props: {
  /** Absent: a device. */
  readonly kind?: Kind;
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
      <p class="quiet small">{t(moreKey(props.value, props.kind ?? 'device'))}</p>
    </fieldset>
  );
}

/** What others can also do then. */
function moreKey(choice: 'public' | 'private', kind: Kind) {
  if (choice === 'private') return 'device.privateMore';
  if (kind === 'gateway') return 'device.gatewayPublicMore';
  const isOpen = pageSettings().publicPush !== 'granted';
  return isOpen ? 'device.publicMore' : 'device.publicMoreGranted';
}
