import type { JSX } from 'preact';
import { notesOf } from '../../api/device-notes.ts';
import { freshnessOf, lastHeardAt } from '../../api/freshness.ts';
import { screenPaths } from '../../api/paths.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useLine } from '../../state/alerts.ts';
import { now } from '../../state/clock.ts';
import { username } from '../../state/session.ts';
import { Age } from '../../ui/age.tsx';
import { FirstIcon } from '../../ui/first-icons.tsx';
import { deviceName, Value } from '../../ui/value.tsx';

const valuesMax = 2;

/** Many devices, one line each: what is wrong, what it says now, how old that is. */
export function DeviceLines(props: {
  readonly devices: readonly Device[];
  readonly concerns?: ReadonlyMap<string, string>;
}): JSX.Element {
  return (
    <ul class="device-lines">
      {props.devices.map((device) => (
        <li key={device.id}>
          <DeviceLine device={device} concern={props.concerns?.get(device.id)} />
        </li>
      ))}
    </ul>
  );
}

function DeviceLine(props: {
  readonly device: Device;
  readonly concern: string | undefined;
}): JSX.Element {
  const { device, concern } = props;
  const heardAt = lastHeardAt(device);
  const freshness = freshnessOf(heardAt, now.value);
  const { icon } = notesOf(device);
  const heard = device.sensors.filter(({ last_value }) => last_value !== undefined);
  return (
    <a
      class={`device-line is-${freshness}${concern === undefined ? '' : ' is-concern'}`}
      href={screenPaths.device(device.id)}
    >
      <span class="line-name">
        {icon !== '' && <span aria-hidden="true">{icon} </span>}
        {deviceName(device)}
        {device.owner !== username.value && (
          <span class="quiet small"> {t('home.ownedBy', { name: device.owner })}</span>
        )}
      </span>
      {concern !== undefined && (
        <span class="card-concern">
          <FirstIcon name="alert" />
          {concern}
        </span>
      )}
      <span class="line-values">
        {heard.slice(0, valuesMax).map((sensor) => (
          <LineValue key={sensor.id} device={device} sensor={sensor} />
        ))}
      </span>
      <span class="line-age small">
        {heardAt === undefined ? t('home.neverSent') : <Age at={heardAt} />}
      </span>
    </a>
  );
}

function LineValue({
  device,
  sensor: { id, last_value, unit },
}: {
  readonly device: Device;
  readonly sensor: Sensor;
}): JSX.Element {
  const line = useLine(device, id);
  return <Value value={last_value?.value} unit={unit} line={line} />;
}
