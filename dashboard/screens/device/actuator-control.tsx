import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { DeviceRights } from '../../api/rights.ts';
import type { Actuator, Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';
import { sensorName, Value } from '../../ui/value.tsx';
import { controlKind, parseControlText, textOfValue } from './control-value.ts';

/** One actuator with the control that fits its type. */
export function ActuatorControl(props: {
  readonly device: Device;
  readonly actuator: Actuator;
  readonly rights: DeviceRights;
}): JSX.Element {
  const { device, actuator, rights } = props;
  const action = useAction();
  const [value, setValue] = useState(actuator.value);
  useEffect(() => setValue(actuator.value), [actuator.value]);
  const name = sensorName(actuator);
  const id = useId();

  async function set(next: unknown): Promise<void> {
    const before = value;
    // A switch moves at once, and back when the service refuses.
    setValue(next);
    const path = `${apiPaths.actuator(device.id, actuator.id)}/value`;
    const isDone = await action.run(() => api.send({ method: 'PUT', path, json: next }));
    if (isDone) showToast(t('device.actuatorSet', { name }));
    else setValue(before);
  }

  const kind = controlKind(actuator);
  return (
    <div class="control">
      <label for={id} class="control-name">
        {name}
      </label>
      {rights.changes && (
        <a
          class="button button-quiet control-edit"
          href={screenPaths.devicePart(device.id, `actuators/${encodeURIComponent(actuator.id)}`)}
        >
          {t('common.edit')} <span class="unseen">{name}</span>
        </a>
      )}
      <span class="control-input">
        {!rights.sends ? (
          <Value value={value} unit={undefined} />
        ) : kind === 'bool' ? (
          <>
            <span>{t(value === true ? 'device.turnOn' : 'device.turnOff')}</span>
            <input
              id={id}
              type="checkbox"
              role="switch"
              aria-checked={value === true}
              class="switch"
              checked={value === true}
              disabled={action.isBusy}
              onChange={(event) => void set(event.currentTarget.checked)}
            />
          </>
        ) : (
          <ControlText id={id} kind={kind} value={value} isBusy={action.isBusy} onSet={set} />
        )}
      </span>
      <FormError text={action.error} />
    </div>
  );
}

function ControlText(props: {
  readonly id: string;
  readonly kind: 'number' | 'string' | 'json';
  readonly value: unknown;
  readonly isBusy: boolean;
  readonly onSet: (value: unknown) => Promise<void>;
}): JSX.Element {
  const { id, kind, value, isBusy, onSet } = props;
  const [text, setText] = useState(() => textOfValue(kind, value));
  const [isBad, setBad] = useState(false);
  useEffect(() => setText(textOfValue(kind, value)), [value, kind]);
  return (
    <form
      class="row control-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const parsed = parseControlText(kind, text);
        setBad(parsed === undefined);
        if (parsed !== undefined) void onSet(parsed.value);
      }}
    >
      <input
        id={id}
        class="input grow"
        type="text"
        inputMode={kind === 'number' ? 'decimal' : 'text'}
        autocomplete="off"
        aria-invalid={isBad ? 'true' : undefined}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={isBusy}>
        {t('device.set')}
      </button>
      {isBad && <FormError text={t(kind === 'number' ? 'device.badNumber' : 'device.badJson')} />}
    </form>
  );
}
