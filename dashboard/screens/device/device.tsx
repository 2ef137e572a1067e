import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { freshnessOf, instantOf } from '../../api/freshness.ts';
import { isUnsaid } from '../../api/measures.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import type { DeviceRights } from '../../api/rights.ts';
import { shapeOf } from '../../api/sensor-shape.ts';
import type { Device, Gateway, Sensor } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useLine } from '../../state/alerts.ts';
import { useAudience } from '../../state/audience.ts';
import { now } from '../../state/clock.ts';
import { useDevice } from '../../state/device.ts';
import { useMeasures } from '../../state/measures.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { isRefused } from '../../state/still-there.ts';
import { Age } from '../../ui/age.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { deviceName, sensorName, Value } from '../../ui/value.tsx';
import { ActuatorControl } from './actuator-control.tsx';
import { DeviceChart } from './device-chart.tsx';
import { DeviceNotes } from './device-notes.tsx';
import { DeviceOrWhy } from './device-part.tsx';
import { DevicePlace } from './device-place.tsx';
import { HandedOver } from './handed-over.tsx';
import { MeasuresNote } from './measures-note.tsx';
import { todayText, useToday } from './today.ts';

/** One device: what it says now, how it went, and what can be done with it. */
export function DeviceScreen({ params }: ScreenProps): JSX.Element {
  const state = useDevice(params['device'] ?? '');
  const name = state.device === undefined ? undefined : deviceName(state.device);
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · Kipimo`;
  }, [name]);
  return (
    <div class="stack">
      <div class="row row-apart device-back">
        <a class="back-link" href="/">
          <Icon name="back" />
          {t('device.back')}
        </a>
        {!isRefused(state.resource.error) && <LiveMark />}
      </div>
      <DeviceOrWhy state={state}>
        {({ device, rights, reload }) => (
          <>
            <DeviceHead device={device} rights={rights} />
            {username.value === undefined && <WhatIsThis />}
            {device.pending === true && <HandedOver device={device} onDone={reload} />}
            {rights.seesData ? (
              <SensorsAndChart {...{ device, rights }} onChange={reload} />
            ) : (
              <p class="note">{t('device.hiddenData')}</p>
            )}
            <Actuators device={device} rights={rights} />
            <DeviceNotes device={device} />
            <DevicePlace device={device} mayChange={rights.changes} onChange={reload} />
          </>
        )}
      </DeviceOrWhy>
    </div>
  );
}

/** Says to who came by a link what this page is. */
function WhatIsThis(): JSX.Element {
  return (
    <p class="note">
      {t('device.publicPage')} <a href="/">{t('device.whatIsKipimo')}</a>
    </p>
  );
}

function DeviceHead({
  device,
  rights,
}: {
  readonly device: Device;
  readonly rights: DeviceRights;
}): JSX.Element {
  return (
    <header class="stack-tight">
      <h1>{deviceName(device)}</h1>
      <p class="quiet row">
        <span class="mark">
          <Icon name={device.visibility === 'private' ? 'lock' : 'globe'} />
          <Visibility device={device} rights={rights} />
        </span>
        {device.owner !== username.value && device.owner !== 'guest' && (
          <span>{t('device.ownedBy', { name: device.owner })}</span>
        )}
        {device.gateway_id !== undefined && device.gateway_id !== '' && (
          <ByGateway id={device.gateway_id} />
        )}
      </p>
      <nav class="row actions" aria-label={deviceName(device)}>
        {rights.shares && <Way device={device} part="share" icon="share" label="device.share" />}
        {username.value !== undefined && rights.seesData && (
          <a class="button" href={`/alerts/new?device=${encodeURIComponent(device.id)}`}>
            <Icon name="alerts" />
            {t('device.alert')}
          </a>
        )}
        {rights.seesData && device.sensors.length > 0 && (
          <Way device={device} part="data" icon="download" label="device.download" />
        )}
        {rights.sends && <Way device={device} part="send" icon="code" label="device.send" />}
        {rights.changes && (
          <Way device={device} part="settings" icon="tune" label="device.settings" />
        )}
      </nav>
    </header>
  );
}

/** Numbers from here on take a line each of what a tile says of today. */
const longDigits = 5;

/** Room is kept for what is said of today before it is known. */
function todayClass(sensor: Sensor): string | undefined {
  if (shapeOf(sensor) === 'text') return undefined;
  const last = String(sensor.last_value?.value ?? '');
  return last.length >= longDigits ? 'has-today is-long' : 'has-today';
}

/** The name takes its place when it is known: until then nothing is said. */
function ByGateway({ id }: { readonly id: string }): JSX.Element {
  const { value, error } = useResource(`name of gateway ${id}`, (signal) =>
    api.getJson<Gateway>({ path: apiPaths.gateway(id), signal }),
  );
  const isKnown = value !== undefined || error !== undefined;
  return (
    <span class={isKnown ? undefined : 'unknown'}>
      {t('device.byGateway', { name: value?.name ?? id })}
    </span>
  );
}

function Way(props: {
  readonly device: Device;
  readonly part: string;
  readonly icon: IconName;
  readonly label: 'device.share' | 'device.download' | 'device.send' | 'device.settings';
}): JSX.Element {
  const { device, part, icon, label } = props;
  return (
    <a class="button" href={screenPaths.devicePart(device.id, part)}>
      <Icon name={icon} />
      {t(label)}
    </a>
  );
}

/** Who can see a device, in words; its owner also learns with how many it is shared. */
function Visibility({
  device,
  rights,
}: {
  readonly device: Device;
  readonly rights: DeviceRights;
}): JSX.Element {
  const isOwn = device.owner === username.value;
  const isAsked = isOwn && rights.shares && device.visibility === 'private';
  const audience = useAudience(isAsked ? device.id : undefined);
  if (device.visibility !== 'private') {
    return <>{t(device.owner === 'guest' ? 'device.ofGuest' : 'device.seenByAll')}</>;
  }
  if (!isOwn) return <>{t('device.seenByOwner', { name: device.owner })}</>;
  // Nobody is told that they are alone before that is known.
  if (audience === undefined) return <span class="unknown">{t('device.seenByMe')}</span>;
  const { count, hasGroups } = audience;
  if (hasGroups) return <>{t('device.seenByGroups')}</>;
  return <>{count === 0 ? t('device.seenByMe') : t('device.seenByChosen', { count })}</>;
}

function SensorsAndChart({
  device,
  rights,
  onChange,
}: {
  readonly device: Device;
  readonly rights: DeviceRights;
  readonly onChange: () => void;
}): JSX.Element {
  const addPath = screenPaths.devicePart(device.id, 'new-sensor');
  const today = useToday(device);
  const measured = device.sensors.map((sensor) => ({ deviceId: device.id, sensor }));
  const measuresOf = useMeasures(measured);
  if (device.sensors.length === 0) {
    return (
      <div class="empty surface">
        <p class="quiet">{t('device.firstSensor')}</p>
        {rights.changes && (
          <a class="button button-main" href={addPath}>
            <Icon name="plus" />
            {t('device.addSensor')}
          </a>
        )}
      </div>
    );
  }
  return (
    <div class="device-main">
      <section aria-label={t('device.sensors')} class="stack-tight">
        <ul class="tiles">
          {device.sensors.map((sensor, index) => (
            <li key={sensor.id} class={todayClass(sensor)}>
              <SensorTile {...{ device, sensor }} place={index} />
              {shapeOf(sensor) !== 'text' && (
                <TodayLine
                  {...{ device, sensor, today }}
                  measures={measuresOf({ deviceId: device.id, sensor })}
                />
              )}
            </li>
          ))}
        </ul>
      </section>
      <div class="device-chart">
        <DeviceChart device={device} sensors={device.sensors} />
      </div>
      <div class="device-more stack-tight">
        <MeasuresNotes {...{ device, rights, measuresOf, onChange }} />
        <div class="row">
          {rights.changes && (
            <a class="button button-quiet" href={addPath}>
              <Icon name="plus" />
              {t('device.addSensor')}
            </a>
          )}
          {rights.sends && (
            <a
              class="button button-quiet"
              href={`${screenPaths.devicePart(device.id, 'send')}?by=hand`}
            >
              <Icon name="plus" />
              {t('device.typeValue')}
            </a>
          )}
        </div>
      </div>
    </div>
  );
}

/** One question at a time. */
function MeasuresNotes(props: {
  readonly device: Device;
  readonly rights: DeviceRights;
  readonly measuresOf: ReturnType<typeof useMeasures>;
  readonly onChange: () => void;
}): JSX.Element | null {
  const { device, rights, measuresOf, onChange } = props;
  const sensor = device.sensors.find((one) => isUnsaid(one) && one.last_value !== undefined);
  if (sensor === undefined) return null;
  const measures = measuresOf({ deviceId: device.id, sensor });
  return <MeasuresNote {...{ device, sensor, measures, onChange }} mayChange={rights.changes} />;
}

function TodayLine(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly today: ReturnType<typeof useToday>;
  readonly measures: Parameters<typeof todayText>[2];
}): JSX.Element {
  const { device, sensor, today, measures } = props;
  const line = useLine(device, sensor.id);
  const text = today && todayText(sensor, today.get(sensor.id), measures, line);
  return <p class="tile-today">{text ?? '\u00a0'}</p>;
}

const seriesMax = 6;

function SensorTile(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly place: number;
}): JSX.Element {
  const { device, sensor, place } = props;
  const at = instantOf(sensor.last_value);
  const line = useLine(device, sensor.id);
  const path = screenPaths.devicePart(device.id, `sensors/${encodeURIComponent(sensor.id)}`);
  const colour = { background: `var(--series-${(place % seriesMax) + 1})` };
  return (
    <a class={`tile is-${freshnessOf(at, now.value)}`} href={path}>
      <span class="tile-name">
        <span class="tile-series" style={colour} aria-hidden="true" />
        {sensorName(sensor)}
      </span>
      <span class="tile-value">
        <Value value={sensor.last_value?.value} unit={sensor.unit} line={line} />
      </span>
      <span class="tile-age">{at === undefined ? t('device.noValue') : <Age at={at} />}</span>
    </a>
  );
}

function Actuators({
  device,
  rights,
}: {
  readonly device: Device;
  readonly rights: DeviceRights;
}): JSX.Element | null {
  if (device.actuators.length === 0 && !rights.changes) return null;
  return (
    <section class="stack-tight" aria-labelledby="actuators">
      <h2 id="actuators">{t('device.actuators')}</h2>
      {device.actuators.length > 0 && (
        <ul class="surface controls">
          {device.actuators.map((actuator) => (
            <li key={actuator.id}>
              <ActuatorControl device={device} actuator={actuator} rights={rights} />
            </li>
          ))}
        </ul>
      )}
      {rights.changes && (
        <a
          class="button button-quiet tiles-add"
          href={screenPaths.devicePart(device.id, 'new-actuator')}
        >
          <Icon name="plus" />
          {t('device.addActuator')}
        </a>
      )}
    </section>
  );
}
