import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { controlKind, parseControlText, textOfValue } from '../../api/control-value.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { DeviceRights } from '../../api/rights.ts';
import type { Actuator, Device } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Age } from '../../ui/age.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { sensorName, Value } from '../../ui/value.tsx';

/** How long a control is on that goes off by itself. */
const timedMinutes = 20;

/** A control that is as it was set changes by others alone. */
const settingRefreshMs = 30_000;
/** A device is about to say that it is so, or a time is about to be over. */
const openRefreshMs = 3_000;
/** A device that has not confirmed by then will not in the next moment. */
const openForMs = 300_000;

function isUnsettled(setting: Actuator | undefined, at: number): boolean {
  const { set_at: setAt, confirmed_at: confirmed, until } = setting ?? {};
  if (until !== undefined && Date.parse(until) - at < openRefreshMs) return true;
  return setAt !== undefined && confirmed === undefined && at - Date.parse(setAt) < openForMs;
}

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
  const user = username.value ?? '';
  const [isOpen, setOpen] = useState(false);
  // Asked for anew whenever the value changed, by whomever, and while something is to come of it.
  const setting = useResource(
    rights.sets
      ? `setting ${user} ${device.id} ${actuator.id} ${JSON.stringify(actuator.value)}`
      : undefined,
    (signal) => api.getJson<Actuator>({ path: apiPaths.actuator(device.id, actuator.id), signal }),
    { refreshMs: isOpen ? openRefreshMs : settingRefreshMs },
  );
  const isToCome = isUnsettled(setting.value, now.value);
  useEffect(() => setOpen(isToCome), [isToCome]);

  async function set(next: unknown, minutes?: number): Promise<void> {
    const before = value;
    // A switch moves at once, and back when the service refuses.
    setValue(next);
    const path = `${apiPaths.actuator(device.id, actuator.id)}/value`;
    const isDone = await action.run(() =>
      api.send({
        ...{ method: 'PUT', path, json: next },
        ...(minutes !== undefined && { query: { for: `${minutes}m` } }),
      }),
    );
    if (!isDone) return setValue(before);
    setting.reload();
    showToast(
      minutes === undefined
        ? t('device.actuatorSet', { name })
        : t('device.onForSet', { name, count: minutes }),
    );
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
        {!rights.sets ? (
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
      {rights.sets && kind === 'bool' && value !== true && (
        <button
          type="button"
          class="button button-quiet control-timed"
          disabled={action.isBusy}
          onClick={() => void set(true, timedMinutes)}
        >
          {t('device.onFor', { count: timedMinutes })}
        </button>
      )}
      {rights.sets && <SettingLine setting={setting.value} />}
      <FormError text={action.error} />
    </div>
  );
}

/** Who set it, when, until when, and whether the device said that it is so. */
function SettingLine({ setting }: { readonly setting: Actuator | undefined }): JSX.Element {
  const { set_by: by, set_at: at, confirmed_at: confirmed, until } = setting ?? {};
  return (
    <p class="quiet small control-setting" role="status">
      {by !== undefined && at !== undefined && (
        <>
          {by === username.value ? t('device.setByMe') : t('device.setBy', { name: by })}{' '}
          <Age at={Date.parse(at)} />
          {' · '}
          {t(confirmed === undefined ? 'device.unconfirmed' : 'device.confirmed')}
          {until !== undefined && (
            <>
              {' · '}
              {t('device.until', {
                time: formatDate(Date.parse(until), { language: language.value, style: 'time' }),
              })}
            </>
          )}
        </>
      )}
    </p>
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
  const known = textOfValue(kind, value);
  const [text, setText] = useState(known);
  const [isBad, setBad] = useState(false);
  useEffect(() => setText(known), [known]);
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
