import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { idFromName, isId } from '../../api/id-check.ts';
import type { Measures } from '../../api/measures.ts';
import type { Sensor, Term } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useVocabulary } from '../../state/vocabulary.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { PickField } from '../../ui/pick-field.tsx';
import { sensorName } from '../../ui/value.tsx';

export interface SensorDraft {
  readonly id: string;
  /** Absent: nobody wrote one, or another than there is. */
  readonly name?: string;
  readonly kind: string;
  readonly quantity: string;
  readonly unit: string;
  /** Empty: nobody said. */
  readonly measures: Measures | '';
}

/** What a sensor is; the id only while it is new. */
export function SensorForm(props: {
  readonly sensor?: Sensor;
  readonly taken?: readonly string[];
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly submit: string;
  readonly onSubmit: (draft: SensorDraft) => void;
}): JSX.Element {
  const { sensor, taken = [], isBusy, error, submit, onSubmit } = props;
  const [draft, setDraft] = useState(() => draftOf(sensor));
  const [hasOwnId, setOwnId] = useState(sensor !== undefined);
  const [idError, setIdError] = useState<string>();
  const kinds = useVocabulary('sensor_kinds');
  const quantities = useVocabulary('quantity_kinds');
  const units = useVocabulary('units');
  const set = (field: keyof SensorDraft) => (value: string) =>
    setDraft((before) => ({ ...before, [field]: value }));

  function check(event: Event): void {
    event.preventDefault();
    if (isBusy) return;
    const id = draft.id.trim();
    const fault =
      id === ''
        ? t('device.idNeeded')
        : !isId(id)
          ? t('device.idBad')
          : sensor === undefined && taken.includes(id)
            ? t('device.idTaken')
            : undefined;
    setIdError(fault);
    if (fault === undefined) onSubmit({ ...draft, id });
  }

  return (
    <form class="form" onSubmit={check} noValidate>
      <TextField
        label={t('device.name')}
        value={draft.name ?? shownName(sensor)}
        onValue={(name) => {
          setDraft((before) => ({ ...before, name, ...(!hasOwnId && { id: idFromName(name) }) }));
        }}
      />
      {sensor === undefined && (
        <TextField
          label={t('device.sensorId')}
          hint={t('device.sensorIdHint')}
          error={idError}
          autocapitalize="none"
          spellcheck={false}
          value={draft.id}
          onValue={(id) => {
            setOwnId(id !== '');
            set('id')(id);
          }}
        />
      )}
      <PickField
        label={t('device.kind')}
        hint={t('device.pickHint')}
        terms={kinds}
        value={draft.kind}
        onValue={set('kind')}
      />
      <div class="form-grid">
        <PickField
          label={t('device.quantity')}
          terms={offered(quantities, kinds.find(({ id }) => id === draft.kind)?.quantity_kinds)}
          value={draft.quantity}
          onValue={set('quantity')}
        />
        <PickField
          label={t('device.unit')}
          terms={offered(units, quantities.find(({ id }) => id === draft.quantity)?.units)}
          value={draft.unit}
          onValue={set('unit')}
        />
      </div>
      <SelectField
        label={t('device.measures')}
        value={draft.measures}
        options={measuresOptions(sensor)}
        onValue={(measures) => setDraft((before) => ({ ...before, measures }))}
      />
      <FormError text={error} />
      <button type="submit" class="button button-main" disabled={isBusy}>
        {submit}
      </button>
    </form>
  );
}

/** Once it was said it can be said anew only. */
function measuresOptions(sensor: Sensor | undefined) {
  const unsaid = sensor?.measures === undefined ? [{ value: '', label: '–' } as const] : [];
  return [
    ...unsaid,
    { value: 'gauge', label: t('device.measuresGauge') } as const,
    { value: 'counter', label: t('device.measuresCounter') } as const,
    { value: 'amount', label: t('device.measuresAmount') } as const,
  ];
}

/** Those that go with what was picked before, or all of them. */
function offered(terms: readonly Term[], ids: readonly string[] | undefined): readonly Term[] {
  if (ids === undefined || ids.length === 0) return terms;
  return terms.filter(({ id }) => ids.includes(id));
}

/** The name as the reader sees it; a sensor without a name has none here. */
const shownName = (sensor: Sensor | undefined): string =>
  sensor?.name === undefined ? '' : sensorName({ ...sensor, id: '' });

function draftOf(sensor: Sensor | undefined): SensorDraft {
  return {
    id: sensor?.id ?? '',
    kind: sensor?.sensing_device ?? sensor?.sensor_kind ?? '',
    quantity: sensor?.quantity_kind ?? '',
    unit: sensor?.unit ?? '',
    measures: sensor?.measures ?? '',
  };
}

/** The sensor as the API takes it; a POST of a known id replaces its description [contract 2]. */
export function sensorMessage(draft: SensorDraft, sensor?: Sensor): object {
  const kindField = sensor?.sensor_kind === undefined ? 'sensing_device' : 'sensor_kind';
  const {
    last_value: _last,
    value: _same,
    ...kept
  } = (sensor ?? {}) as Sensor & {
    readonly value?: unknown;
  };
  const {
    name: stored,
    sensing_device: _s,
    sensor_kind: _k,
    quantity_kind: _q,
    unit: _u,
    measures: _m,
    ...rest
  } = kept;
  // A name that nobody changed stays as it is stored, in whatever language the reader saw it.
  const name = draft.name?.trim() ?? stored ?? '';
  return {
    ...rest,
    id: draft.id,
    ...(name !== '' && { name }),
    ...(draft.kind.trim() !== '' && { [kindField]: draft.kind.trim() }),
    ...(draft.quantity.trim() !== '' && { quantity_kind: draft.quantity.trim() }),
    ...(draft.unit.trim() !== '' && { unit: draft.unit.trim() }),
    ...(draft.measures !== '' && { measures: draft.measures }),
  };
}
