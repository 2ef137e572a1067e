import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { type AlertForm, changesOf, draftOf, formOf } from '../../alerts/alert-form.ts';
import { type ChannelState, channelNames, type Notification } from '../../api/alert-types.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAlertDevices } from '../../state/alert-devices.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import '../../state/usual-words.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AlertEditor } from './alert-editor.tsx';
import { useChannels } from './channel-choice.tsx';
import { Lacks } from './lacks.tsx';

/** A new alert; the address may name the device and the sensor it is for. */
export function NewAlert(): JSX.Element {
  const { query, route } = useLocation();
  const { device = '', sensor = '' } = query;
  const { value, error, reload } = useAlertDevices(device === '' ? [] : [device]);
  const channels = useChannels();
  const isReady = channels.isKnown;
  async function save(form: AlertForm): Promise<void> {
    const id = await api.send({ method: 'POST', path: apiPaths.alerts, json: draftOf(form) });
    showToast(t('alerts.saved'));
    route(screenPaths.alert(id), true);
  }
  return (
    <div class="stack">
      <a class="back-link" href="/alerts">
        <Icon name="back" />
        {t('alerts.all')}
      </a>
      <h1>{t('alerts.new')}</h1>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {error === undefined && (value === undefined || !isReady) && <Skeleton height={460} />}
      {value !== undefined && isReady && (
        <FirstForm
          devices={value}
          {...{ device, sensor }}
          channels={usualChannels(channels.value)}
          onSave={save}
        />
      )}
    </div>
  );
}

/** The form, or the way to something that could be watched. */
function FirstForm(props: {
  readonly devices: readonly Device[];
  readonly device: string;
  readonly sensor: string;
  readonly channels: readonly string[];
  readonly onSave: (form: AlertForm) => Promise<void>;
}): JSX.Element {
  const { devices, device, sensor, channels, onSave } = props;
  if (!devices.some(({ sensors }) => sensors.length > 0)) {
    return (
      <div class="empty">
        <h2>{t('alerts.noSensors')}</h2>
        <a class="button button-main" href="/new-device">
          <Icon name="plus" />
          {t('home.newDevice')}
        </a>
      </div>
    );
  }
  return (
    <AlertEditor
      key={`${device} ${sensor}`}
      first={firstForm(devices, { device, sensor, channels })}
      devices={devices}
      submit={t('alerts.create')}
      onSave={onSave}
    />
  );
}

/**
 * The way that a first alert goes: one that reaches oneself; else one that is set up, and the form
 * says what is missing in the profile for it.
 */
function usualChannels(states: readonly ChannelState[] = []): readonly string[] {
  const ready = channelNames.flatMap((name) =>
    states.filter(({ channel, configured }) => channel === name && configured),
  );
  const found = ready.find(({ reachable }) => reachable === true) ?? ready[0];
  return found === undefined ? [] : [found.channel];
}

const firstThrottleSeconds = 6 * 3_600;
/** What a device sends after an outage is not news. */
const firstMaxAgeSeconds = 3_600;

/** About the sensor that was looked at, to oneself, without a number yet. */
function firstForm(
  devices: readonly Device[],
  wish: { readonly device: string; readonly sensor: string; readonly channels: readonly string[] },
): AlertForm {
  const { device: deviceId, sensor: sensorId, channels } = wish;
  const hasSensors = devices.find(({ sensors }) => sensors.length > 0);
  const device = devices.find(({ id }) => id === deviceId) ?? hasSensors;
  const sensor = device?.sensors.find(({ id }) => id === sensorId) ?? device?.sensors[0];
  return {
    description: '',
    devices: device === undefined ? [] : [device.id],
    sentence: {
      conditions: [{ kind: 'compare', sensor: sensor?.id ?? '', comparison: 'below', value: '' }],
      forSeconds: 0,
    },
    expression: '',
    otherSensors: [],
    action: { kind: 'message', usernames: [username.value ?? ''], channels, message: '' },
    maxAge: firstMaxAgeSeconds,
    everySeconds: firstThrottleSeconds,
    until: '',
  };
}

/** An alert that is there, in the same form. */
export function EditAlert({ params }: ScreenProps): JSX.Element {
  const id = params['alert'] ?? '';
  const alert = useResource(`alert ${username.value} ${id}`, (signal) =>
    api.getJson<Notification>({ path: apiPaths.alert(id), signal }),
  );
  const isReady = useChannels().isKnown;
  const devices = useAlertDevices(alert.value?.condition.devices.slice(0, 20));
  const { route } = useLocation();
  const error = alert.error ?? devices.error;
  async function save(form: AlertForm): Promise<void> {
    await api.send({ method: 'PATCH', path: apiPaths.alert(id), json: changesOf(form) });
    showToast(t('alerts.saved'));
    route(screenPaths.alert(id), true);
  }
  return (
    <div class="stack">
      <a class="back-link" href={screenPaths.alert(id)}>
        <Icon name="back" />
        {t('common.back')}
      </a>
      <h1>{t('alerts.edit')}</h1>
      {error !== undefined && <ErrorBox error={error} onRetry={alert.reload} />}
      {alert.value !== undefined && devices.value !== undefined && isReady ? (
        <>
          <Lacks alert={alert.value} hasLinks />
          <AlertEditor
            key={id}
            first={formOf(alert.value)}
            devices={devices.value}
            submit={t('common.save')}
            onSave={save}
          />
        </>
      ) : (
        error === undefined && <Skeleton height={460} />
      )}
    </div>
  );
}
