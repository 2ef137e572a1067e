import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { AlertAction } from '../../alerts/alert-form.ts';
import { controlKind, parseControlText, textOfValue } from '../../api/control-value.ts';
import type { Actuator } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { username } from '../../state/session.ts';
import { deviceName, sensorName } from '../../ui/value.tsx';
import { BlankSelect, Blanks, BlankText } from './blanks.tsx';
import { ChannelChoice } from './channel-choice.tsx';
import { type Parts, sensorOptions } from './device-blank.tsx';
import { Recipients } from './recipients.tsx';

/** What an alert does: it sends a message, or sets a control. */
export function ActionForm(parts: Parts): JSX.Element {
  const { form, devices, onForm } = parts;
  const { action } = form;
  const hasControls = devices.some(({ actuators }) => actuators.length > 0);
  const put = (next: AlertAction): void => onForm({ ...form, action: next });
  return (
    <fieldset class="fieldset stack-tight">
      <legend class="unseen">{t('alerts.thenWhat')}</legend>
      {(hasControls || action.kind === 'actuation') && (
        <div class="segments segments-column">
          {(['message', 'actuation'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              class="segment"
              aria-pressed={action.kind === kind}
              onClick={() => action.kind !== kind && put(firstAction(kind))}
            >
              {t(`alerts.do-${kind}`)}
            </button>
          ))}
        </div>
      )}
      {action.kind === 'message' ? (
        <MessageForm {...parts} action={action} onAction={put} />
      ) : (
        <ActuationForm {...parts} action={action} onAction={put} />
      )}
    </fieldset>
  );
}

function firstAction(kind: AlertAction['kind']): AlertAction {
  if (kind === 'message') {
    return { kind, usernames: [username.value ?? ''], channels: [], message: '' };
  }
  return { kind, device_id: '', actuator_id: '', actuator_value: undefined };
}

const messageCharactersMax = 4_096;

function MessageForm(
  props: Parts & {
    readonly action: Extract<AlertAction, { kind: 'message' }>;
    readonly onAction: (action: AlertAction) => void;
  },
): JSX.Element {
  const { form, devices, action, onAction } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const sensors = sensorOptions(form.devices, devices, '');
  const insert = (variable: string): void => {
    const { message } = action;
    const start = field.current?.selectionStart ?? message.length;
    const end = field.current?.selectionEnd ?? start;
    onAction({ ...action, message: message.slice(0, start) + variable + message.slice(end) });
    field.current?.focus();
  };
  const variables = [
    ...sensors.slice(0, 8).map(({ value, label }) => ({
      text: `{${value}}`,
      label: t('alerts.valueOf', { sensor: label }),
    })),
    { text: `$\{id}`, label: t('alerts.idOfDevice') },
    { text: '{id}', label: t('alerts.idOfSensor') },
  ];
  return (
    <>
      <p class="form-label">{t('alerts.sendBy')}</p>
      <ChannelChoice
        chosen={action.channels}
        isToMe={action.usernames.includes(username.value ?? '')}
        onChosen={(channels) => onAction({ ...action, channels })}
      />
      <p class="form-label">{t('alerts.to')}</p>
      <Recipients
        chosen={action.usernames}
        onChosen={(usernames) => onAction({ ...action, usernames })}
      />
      <label class="form-label" for="alert-message">
        {t('alerts.message')}
      </label>
      <textarea
        id="alert-message"
        ref={field}
        class="input"
        maxLength={messageCharactersMax}
        value={action.message}
        onInput={({ currentTarget }) => onAction({ ...action, message: currentTarget.value })}
      />
      <div class="chips">
        {variables.map(({ text, label }) => (
          <button key={text} type="button" class="chip" onClick={() => insert(text)}>
            {label}
          </button>
        ))}
      </div>
      <p class="field-hint">{t('alerts.variablesHint')}</p>
    </>
  );
}

function ActuationForm(
  props: Parts & {
    readonly action: Extract<AlertAction, { kind: 'actuation' }>;
    readonly onAction: (action: AlertAction) => void;
  },
): JSX.Element {
  const { devices, action, onAction } = props;
  const controls = devices.flatMap((device) =>
    device.actuators.map((actuator) => ({ device, actuator })),
  );
  const place = controls.findIndex(
    ({ device, actuator }) => device.id === action.device_id && actuator.id === action.actuator_id,
  );
  const chosen = controls[place];
  return (
    <p class="sentence">
      <Blanks
        text={t('alerts.formSet')}
        blanks={{
          actuator: (
            <BlankSelect
              label={t('device.actuator')}
              value={place < 0 ? '' : String(place)}
              options={controls.map(({ device, actuator }, index) => ({
                value: String(index),
                label: t('common.pair', { name: deviceName(device), value: sensorName(actuator) }),
              }))}
              onValue={(index) => {
                const control = controls[Number(index)];
                if (control === undefined) return;
                onAction({
                  kind: 'actuation',
                  device_id: control.device.id,
                  actuator_id: control.actuator.id,
                  ...{
                    actuator_value: controlKind(control.actuator) === 'bool' ? true : undefined,
                  },
                });
              }}
            />
          ),
          value: chosen !== undefined && (
            <ControlValue
              actuator={chosen.actuator}
              value={action.actuator_value}
              onValue={(actuator_value) => onAction({ ...action, actuator_value })}
            />
          ),
        }}
      />
      {place < 0 && action.actuator_id !== '' && (
        <span class="quiet"> ({`${action.device_id} / ${action.actuator_id}`})</span>
      )}
    </p>
  );
}

function ControlValue(props: {
  readonly actuator: Actuator;
  readonly value: unknown;
  readonly onValue: (value: unknown) => void;
}): JSX.Element {
  const { actuator, value, onValue } = props;
  const kind = controlKind(actuator);
  if (kind === 'bool') {
    return (
      <BlankSelect
        label={t('device.value')}
        value={value === true ? 'on' : 'off'}
        options={(['on', 'off'] as const).map((word) => ({
          value: word,
          label: t(`common.${word}`),
        }))}
        onValue={(word) => onValue(word === 'on')}
      />
    );
  }
  return (
    <BlankText
      label={t('device.value')}
      value={typeof value === 'string' ? value : textOfValue(kind, value)}
      // What is no value of its kind yet goes as the text it is.
      onValue={(text) =>
        onValue(text === '' ? undefined : (parseControlText(kind, text)?.value ?? text))
      }
    />
  );
}
