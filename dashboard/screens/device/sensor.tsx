import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { instantOf } from '../../api/freshness.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { Sensor } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { useLine } from '../../state/alerts.ts';
import { useMeasures } from '../../state/measures.ts';
import { api } from '../../state/session.ts';
import { useStillThere } from '../../state/still-there.ts';
import { showToast } from '../../state/toasts.ts';
import { Age } from '../../ui/age.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { HandValue } from '../../ui/hand-value.tsx';
import { Icon } from '../../ui/icons.tsx';
import { RetentionFold } from '../../ui/retention-part.tsx';
import { sensorName, Value } from '../../ui/value.tsx';
import { CalibrationForm } from './calibration-form.tsx';
import { CorrectableChart } from './correctable-chart.tsx';
import { CorrectionList } from './correction-list.tsx';
import { DeviceChart } from './device-chart.tsx';
import { DevicePart, type KnownDevice } from './device-part.tsx';
import { LatestValues } from './latest-values.tsx';
import { MeasuresNote } from './measures-note.tsx';
import { SensorForm, sensorMessage } from './sensor-form.tsx';

/** One sensor: its value, its history, and all there is to set. */
export function SensorScreen({ params }: ScreenProps): JSX.Element {
  const id = params['sensor'] ?? '';
  return (
    <DevicePart
      id={params['device'] ?? ''}
      title={(device) => sensorName(device.sensors.find((sensor) => sensor.id === id) ?? { id })}
    >
      {(known) => {
        const sensor = known.device.sensors.find((candidate) => candidate.id === id);
        return sensor === undefined ? (
          <p class="note">{t('errors.notFound')}</p>
        ) : (
          <SensorParts known={known} sensor={sensor} />
        );
      }}
    </DevicePart>
  );
}

function SensorParts({
  known,
  sensor,
}: {
  readonly known: KnownDevice;
  readonly sensor: Sensor;
}): JSX.Element {
  const { device, rights, reload } = known;
  useStillThere(apiPaths.sensor(device.id, sensor.id), reload);
  const at = instantOf(sensor.last_value);
  const line = useLine(device, sensor.id);
  const measured = { deviceId: device.id, sensor };
  const measures = useMeasures([measured])(measured);
  return (
    <>
      <div class="row row-apart">
        <p class="hero">
          <Value value={sensor.last_value?.value} unit={sensor.unit} line={line} />{' '}
          <span class="quiet hero-age">
            {at === undefined ? t('device.latestNone') : <Age at={at} />}
          </span>
        </p>
        <a class="button" href={alertPath(device.id, sensor.id)}>
          <Icon name="alerts" />
          {t('device.alert')}
        </a>
      </div>
      {rights.seesData && (
        <MeasuresNote
          {...{ device, sensor, measures }}
          mayChange={rights.changes}
          onChange={reload}
        />
      )}
      {rights.seesData &&
        (rights.changes ? (
          <CorrectableChart device={device} sensor={sensor} onChange={reload} />
        ) : (
          <DeviceChart device={device} sensors={[sensor]} />
        ))}
      {rights.seesData && <LatestValues device={device} sensor={sensor} />}
      {rights.changes && (
        <>
          <CorrectionList device={device} sensor={sensor} onChange={reload} />
          <details class="surface fold">
            <summary>{t('device.calibrate')}</summary>
            <CalibrationForm device={device} sensor={sensor} onChange={reload} />
          </details>
          <details class="surface fold">
            <summary>{t('common.edit')}</summary>
            <SensorEditor known={known} sensor={sensor} />
          </details>
          <RetentionFold
            place={{
              scope: 'sensor',
              path: apiPaths.sensor(device.id, sensor.id),
              values: { device_id: device.id, sensor_id: sensor.id },
            }}
          />
        </>
      )}
      {rights.sends && (
        <details class="surface fold">
          <summary>{t('device.typeValue')}</summary>
          <HandValue device={device} sensors={[sensor]} onSent={reload} />
        </details>
      )}
    </>
  );
}

const alertPath = (device: string, sensor: string): string =>
  `/alerts/new?device=${encodeURIComponent(device)}&sensor=${encodeURIComponent(sensor)}`;

function SensorEditor({
  known,
  sensor,
}: {
  readonly known: KnownDevice;
  readonly sensor: Sensor;
}): JSX.Element {
  const { device, reload } = known;
  const { route } = useLocation();
  const action = useAction();
  const [isAsking, setAsking] = useState(false);
  const name = sensorName(sensor);
  const path = apiPaths.sensor(device.id, sensor.id);

  async function remove(): Promise<void> {
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    setAsking(false);
    if (!isDone) return;
    showToast(t('device.deleted', { name }));
    route(screenPaths.device(device.id), true);
  }

  return (
    <div class="stack">
      <p class="quiet">
        {t('common.pair', { name: t('device.id'), value: '' })}
        <span class="mono">{sensor.id}</span>
      </p>
      <SensorForm
        key={sensor.id}
        sensor={sensor}
        isBusy={action.isBusy}
        error={action.error}
        submit={t('common.save')}
        onSubmit={async (draft) => {
          const json = sensorMessage(draft, sensor);
          const target = `${apiPaths.device(device.id)}/sensors`;
          if (await action.run(() => api.send({ method: 'POST', path: target, json }))) {
            showToast(t('device.saved'));
            reload();
          }
        }}
      />
      <div>
        <button type="button" class="button button-danger" onClick={() => setAsking(true)}>
          <Icon name="trash" />
          {t('device.deleteSensor')}
        </button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('device.deleteSensor')}
          text={t('device.deleteSensorText', { name })}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
