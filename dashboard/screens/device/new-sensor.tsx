import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { DevicePart, type KnownDevice } from './device-part.tsx';
import { SensorForm, sensorMessage } from './sensor-form.tsx';

/** A sensor more on a device. */
export function NewSensor({ params }: ScreenProps): JSX.Element {
  return (
    <DevicePart id={params['device'] ?? ''} title={() => t('device.addSensor')}>
      {(known) => <NewSensorForm known={known} />}
    </DevicePart>
  );
}

function NewSensorForm({ known }: { readonly known: KnownDevice }): JSX.Element {
  const { device } = known;
  const { route } = useLocation();
  const action = useAction();
  return (
    <SensorForm
      taken={device.sensors.map(({ id }) => id)}
      isBusy={action.isBusy}
      error={action.error}
      submit={t('device.addSensor')}
      onSubmit={async (draft) => {
        const path = `${apiPaths.device(device.id)}/sensors`;
        const json = sensorMessage(draft);
        const isDone = await action.run(() => api.send({ method: 'POST', path, json }));
        if (isDone) route(screenPaths.device(device.id), true);
      }}
    />
  );
}
