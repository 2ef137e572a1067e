import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type SnippetKind, snippet, snippetKinds } from '../api/snippets.ts';
import type { Device } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { pageSettings } from '../state/page-settings.ts';
import { api, username } from '../state/session.ts';
import { CopyBlock } from './copy-block.tsx';
import { SelectField } from './field.tsx';
import { FormError } from './form-error.tsx';
import { deviceName, sensorName } from './value.tsx';

const keyPlace = 'YOUR_KEY';

/** Lines that send values of a device, in four ways; with a key where one is needed. */
export function SnippetsPanel({ device }: { readonly device: Device }): JSX.Element {
  const [kind, setKind] = useState<SnippetKind>('curl');
  const [sensorId, setSensorId] = useState(device.sensors[0]?.id ?? '');
  const [key, setKey] = useState<string>();
  const action = useAction();
  const isPrivate = device.visibility === 'private';
  const shownKey = key ?? (isPrivate ? keyPlace : undefined);
  if (device.sensors.length === 0) return <p class="quiet">{t('send.noSensor')}</p>;

  async function makeKey(): Promise<void> {
    const json = {
      name: t('send.keyName', { name: deviceName(device) }),
      devices: [device.id],
      scopes: ['devices-data:create'],
    };
    await action.run(async () => {
      const made = await api.request({ method: 'POST', path: '/auth/keys', json });
      setKey(((await made.json()) as { readonly key: string }).key);
    });
  }

  const lines = snippet(kind, {
    origin: location.origin,
    host: location.hostname,
    mqttPort: pageSettings().mqttPort,
    device: device.id,
    sensor: sensorId,
    ...(shownKey !== undefined && { key: shownKey }),
    ...(username.value !== undefined && { username: username.value }),
  });
  return (
    <div class="stack">
      <fieldset class="segments" aria-label={t('send.way')}>
        {snippetKinds.map((name) => (
          <button
            key={name}
            type="button"
            class="segment"
            aria-pressed={kind === name}
            onClick={() => setKind(name)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      {device.sensors.length > 1 && (
        <SelectField
          label={t('send.sensor')}
          value={sensorId}
          options={device.sensors.map((one) => ({ value: one.id, label: sensorName(one) }))}
          onValue={setSensorId}
        />
      )}
      <p class="quiet">{t(isPrivate ? 'send.private' : 'send.public')}</p>
      {isPrivate && key === undefined && username.value !== undefined && (
        <div class="row">
          <button
            type="button"
            class="button button-main"
            disabled={action.isBusy}
            onClick={() => void makeKey()}
          >
            {t('send.makeKey')}
          </button>
          <span class="quiet">{t('send.keyPlace', { place: keyPlace })}</span>
        </div>
      )}
      {key !== undefined && (
        <p class="note" role="status">
          {t('send.keyMade')}
        </p>
      )}
      <FormError text={action.error} />
      <CopyBlock text={lines} label={kind} />
    </div>
  );
}
