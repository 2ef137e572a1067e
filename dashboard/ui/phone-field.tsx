import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { dialCodes, lacksDialCode, regionOf, withDialCode } from '../api/dial-codes.ts';
import { language, t } from '../i18n/i18n.ts';
import { SelectField, TextField } from './field.tsx';

/** A telephone number; a list of countries completes one that lacks its code. */
export function PhoneField(props: {
  readonly value: string;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const { value, onValue } = props;
  const [region, setRegion] = useState(() => regionOf(navigator.languages ?? []) ?? '');
  /** The number as it was typed, without a code. */
  const [typed, setTyped] = useState<string>();
  return (
    <div
      class="stack-tight"
      onChange={({ target }) => {
        if (!(target instanceof HTMLInputElement) || !lacksDialCode(value)) return;
        setTyped(value);
        onValue(withDialCode(value, region));
      }}
    >
      <TextField
        label={t('welcome.phone')}
        type="tel"
        autocomplete="tel"
        hint={t('welcome.phoneHint')}
        value={value}
        onValue={(text) => {
          setTyped(undefined);
          onValue(text);
        }}
        isOptional
      />
      {(typed !== undefined || lacksDialCode(value)) && (
        <Countries
          region={region}
          onRegion={(chosen) => {
            setRegion(chosen);
            setTyped(typed ?? value);
            onValue(withDialCode(typed ?? value, chosen));
          }}
        />
      )}
    </div>
  );
}

function Countries(props: {
  readonly region: string;
  readonly onRegion: (region: string) => void;
}): JSX.Element {
  const reader = language.value;
  const options = useMemo(() => {
    const names = new Intl.DisplayNames([reader], { type: 'region' });
    return [...dialCodes]
      .map(([value, code]) => ({ value, label: `${names.of(value) ?? value} +${code}` }))
      .sort((one, other) => one.label.localeCompare(other.label, reader));
  }, [reader]);
  return (
    <SelectField
      label={t('welcome.country')}
      value={props.region}
      options={props.region === '' ? [{ value: '', label: '–' }, ...options] : options}
      onValue={props.onRegion}
    />
  );
}
