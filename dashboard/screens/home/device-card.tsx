import type { JSX } from 'preact';
import { notesOf } from '../../api/device-notes.ts';
import { freshnessOf, instantOf, lastHeardAt } from '../../api/freshness.ts';
import { screenPaths } from '../../api/paths.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useLine } from '../../state/alerts.ts';
import { now } from '../../state/clock.ts';
import { username } from '../../state/session.ts';
import { Age } from '../../ui/age.tsx';
import { FirstIcon } from '../../ui/first-icons.tsx';
import { deviceName, sensorName, Value } from '../../ui/value.tsx';
import { DeviceTrend } from './device-trend.tsx';

const valuesMax = 3;

/** One device at a glance: what it says now, how old that is, where it is heading. */
export function DeviceCard({
  device,
  concern,
}: {
  readonly device: Device;
  /** What an alert says about it. */
  readonly concern?: string | undefined;
}): JSX.Element {
  const heardAt = lastHeardAt(device);
  const freshness = freshnessOf(heardAt, now.value);
  const { icon } = notesOf(device);
  const shown = pickSensors(device.sensors);
  const hidden = device.sensors.length - shown.length;
  const [main] = shown;
  return (
    <a
      class={`card is-${freshness}${concern === undefined ? '' : ' is-concern'}`}
      href={screenPaths.device(device.id)}
    >
      <span class="card-head">
        <span class="card-name">
          {icon !== '' && <span aria-hidden="true">{icon} </span>}
          {deviceName(device)}
        </span>
        <CardMarks device={device} />
      </span>
      <span class="card-values">
        {shown.map((sensor) => (
          <CardValue key={sensor.id} device={device} sensor={sensor} />
        ))}
        {main === undefined && <span class="quiet">{t('home.noSensors')}</span>}
      </span>
      {concern !== undefined && (
        <span class="card-concern">
          <FirstIcon name="alert" />
          {concern}
        </span>
      )}
      <span class="card-foot">
        <span>
          {heardAt === undefined ? t('home.neverSent') : <Age at={heardAt} />}
          {hidden > 0 && <> · {t('home.moreSensors', { count: hidden })}</>}
        </span>
        {main !== undefined && heardAt !== undefined && (
          <DeviceTrend device={device.id} sensor={main} isStale={freshness !== 'fresh'} />
        )}
      </span>
    </a>
  );
}

function CardMarks({ device }: { readonly device: Device }): JSX.Element {
  const isOthers = device.owner !== username.value;
  return (
    <span class="card-marks">
      {isOthers && <span>{t('home.ownedBy', { name: device.owner })}</span>}
      {device.visibility === 'private' && (
        <span class="mark">
          <FirstIcon name="lock" />
          {t('home.privateMark')}
        </span>
      )}
    </span>
  );
}

function CardValue({
  device,
  sensor,
}: {
  readonly device: Device;
  readonly sensor: Sensor;
}): JSX.Element {
  const line = useLine(device, sensor.id);
  const at = instantOf(sensor.last_value);
  const freshness = freshnessOf(at, now.value);
  return (
    <span class={`card-value is-${freshness}`}>
      <Value value={sensor.last_value?.value} unit={sensor.unit} line={line} />
      <span class="card-label">{sensorName(sensor)}</span>
    </span>
  );
}

/** The first ones that have said something; a device lists what matters first. */
function pickSensors(sensors: readonly Sensor[]): readonly Sensor[] {
  const heard = sensors.filter(({ last_value }) => last_value !== undefined);
  return (heard.length > 0 ? heard : sensors).slice(0, valuesMax);
}
