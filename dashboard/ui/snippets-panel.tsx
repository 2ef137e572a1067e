import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { screenPaths } from '../api/paths.ts';
import { type Board, boards } from '../api/send-target.ts';
import { canSend } from '../api/sketches.ts';
import { type SnippetKind, snippet, snippetKinds } from '../api/snippets.ts';
import type { Device } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useAction } from '../state/action.ts';
import { pageSettings } from '../state/page-settings.ts';
import { api, username } from '../state/session.ts';
import { CopyBlock } from './copy-block.tsx';
import { SelectField } from './field.tsx';
import { FormError } from './form-error.tsx';
import { Icon } from './icons.tsx';
import { deviceName, sensorName } from './value.tsx';

/** Lines that send values of a device, in four ways; with a key where one is needed. */
export function SnippetsPanel({ device }: { readonly device: Device }): JSX.Element {
  const [kind, setKind] = useState<SnippetKind>('curl');
  const [sensorId, setSensorId] = useState(device.sensors[0]?.id ?? '');
  const [key, setKey] = useState<string>();
  const action = useAction();
  const isPrivate = device.visibility === 'private';
  // Lines that would be refused are not shown.
  const needsKey = isPrivate && key === undefined;
  const [board, setBoard] = useState<Board>('ESP32');
  if (device.sensors.length === 0) {
    return (
      <div class="stack-tight">
        <p class="quiet">{t('send.noSensor')}</p>
        <a class="button tiles-add" href={screenPaths.devicePart(device.id, 'new-sensor')}>
          <Icon name="plus" />
          {t('send.addSensor')}
        </a>
      </div>
    );
  }

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
    ...(key !== undefined && { key }),
    board,
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
      {kind === 'Arduino' && (
        <SelectField
          label={t('send.board')}
          value={board}
          options={boards.map((name) => ({ value: name, label: name }))}
          hint={canSend(board, location.origin) ? undefined : t('send.noHttps')}
          onValue={setBoard}
        />
      )}
      {needsKey && username.value === undefined && <p class="note">{t('send.loginForKey')}</p>}
      {needsKey && username.value !== undefined && (
        <div class="row">
          <button
            type="button"
            class="button button-main"
            disabled={action.isBusy}
            onClick={() => void makeKey()}
          >
            {t('send.makeKey')}
          </button>
          <span class="quiet">{t('send.keyNeeded')}</span>
        </div>
      )}
      {key !== undefined && (
        <p class="note" role="status">
          {t('send.keyMade')}
        </p>
      )}
      <FormError text={action.error} />
      {!needsKey && <CopyBlock text={lines} label={kind} />}
    </div>
  );
}
