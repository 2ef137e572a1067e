import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { typedJson } from '../api/exact-json.ts';
import type { Device, Sensor } from '../api/types.ts';
import { unitSymbol } from '../api/unit-symbol.ts';
import { fromZoneText, usableZone } from '../charts/zone.ts';
import { t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { showToast } from '../state/toasts.ts';
import { sendTyped, waitingValues } from '../state/typed-values.ts';
import { SelectField, TextField } from './field.tsx';
import { FormError } from './form-error.tsx';
import { sensorName } from './value.tsx';

/** A value that a person read, typed in: rain gauges and meters have no board. */
export function HandValue(props: {
  readonly device: Device;
  /** Which of its sensors may be chosen. */
  readonly sensors: readonly Sensor[];
  readonly onSent?: () => void;
}): JSX.Element {
  const { device, sensors, onSent } = props;
  const [id, setId] = useState(sensors[0]?.id ?? '');
  const [text, setText] = useState('');
  const [time, setTime] = useState('');
  const action = useAction();
  const sensor = sensors.find((one) => one.id === id) ?? sensors[0];
  const symbol = unitSymbol(sensor?.unit);
  const isOfNumbers = symbol !== '' || typeof sensor?.last_value?.value === 'number';
  const waiting = waitingValues.value.filter((value) => value.device === device.id).length;
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const json = typedJson(text);
    if (sensor === undefined || json === undefined) return action.fail(t('send.handNone'));
    if (isOfNumbers && json.startsWith('"')) return action.fail(t('send.handNumber'));
    const at = time === '' ? Date.now() : fromZoneText(time, usableZone(device.timezone));
    if (at === undefined) return action.fail(t('send.handBadTime'));
    let became: 'sent' | 'kept' = 'sent';
    const isDone = await action.run(async () => {
      const timestamp = new Date(at).toISOString();
      became = await sendTyped({ device: device.id, sensor: sensor.id, json, timestamp });
    });
    if (!isDone) return;
    showToast(t(became === 'sent' ? 'send.handSaved' : 'send.handKept'));
    setText('');
    setTime('');
    if (became === 'sent') onSent?.();
  }
  return (
    <form class="form" onSubmit={save} noValidate>
      {sensors.length > 1 && (
        <SelectField
          label={t('send.sensor')}
          value={id}
          options={sensors.map((one) => ({ value: one.id, label: sensorName(one) }))}
          onValue={setId}
        />
      )}
      <TextField
        label={symbol === '' ? t('device.value') : `${t('device.value')} (${symbol})`}
        hint={isOfNumbers ? undefined : t('send.handHint')}
        inputMode="decimal"
        autocomplete="off"
        value={text}
        onValue={setText}
      />
      <TextField
        label={t('send.handTime')}
        hint={t('send.handTimeHint')}
        type="datetime-local"
        isOptional
        value={time}
        onValue={setTime}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('send.handSave')}
      </button>
      {waiting > 0 && <p class="note">{t('send.handWaiting', { count: waiting })}</p>}
    </form>
  );
}
