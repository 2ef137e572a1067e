import type { JSX } from 'preact';
import { language, t } from '../../i18n/i18n.ts';
import { usualNames } from '../../i18n/usual-names.ts';
import { useVocabulary } from '../../state/vocabulary.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PickField } from '../../ui/pick-field.tsx';
import type { Draft } from './draft.ts';
import { type Chosen, usualSensors } from './usual-sensors.ts';

/** What the device measures. */
export function SensorsStep(props: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onBack: () => void;
  readonly onCreate: () => void;
}): JSX.Element {
  const { draft, error, isBusy, onDraft, onBack, onCreate } = props;
  return (
    <form
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onCreate();
      }}
    >
      <p class="quiet">{t('start.sensorsHint')}</p>
      <SensorChoice chosen={draft} onChange={(chosen) => onDraft({ ...draft, ...chosen })} />
      <FormError text={error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={isBusy}>
          {t('start.create')}
        </button>
        <button type="button" class="button button-quiet" onClick={onBack}>
          {t('start.back')}
        </button>
      </div>
    </form>
  );
}

/** The usual sensors to tap, and one more by its name. */
export function SensorChoice(props: {
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
}): JSX.Element {
  const { onChange } = props;
  const { sensors, other, otherUnit } = props.chosen;
  const chosen = { sensors, other, otherUnit };
  const units = useVocabulary('units');
  const toggle = (id: string): void => {
    const isOn = sensors.includes(id);
    const next = isOn ? sensors.filter((one) => one !== id) : [...sensors, id];
    onChange({ ...chosen, sensors: next });
  };
  return (
    <>
      <div class="chips">
        {usualSensors.map(({ id, text }) => (
          <button
            key={id}
            type="button"
            class="chip"
            aria-pressed={sensors.includes(id)}
            onClick={() => toggle(id)}
          >
            {sensors.includes(id) && <Icon name="check" />}
            {usualNames[language.value][text]}
          </button>
        ))}
      </div>
      <TextField
        label={t('start.other')}
        placeholder={t('start.otherName')}
        autocomplete="off"
        value={other}
        onValue={(next) => onChange({ ...chosen, other: next })}
        isOptional
      />
      {other.trim() !== '' && (
        <PickField
          label={t('device.unit')}
          terms={units}
          value={otherUnit}
          onValue={(unit) => onChange({ ...chosen, otherUnit: unit })}
        />
      )}
    </>
  );
}
