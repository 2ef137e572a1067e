import type { JSX } from 'preact';
import { thresholdOf } from '../../alerts/attention.ts';
import type { Notification } from '../../api/alert-types.ts';
import { freshnessOf, instantOf, lastHeardAt } from '../../api/freshness.ts';
import { screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { formatAge, formatValue } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { MapOfPlaces } from '../../map/lazy-map.tsx';
import type { MapPlace } from '../../map/map-place.ts';
import { useAttention } from '../../state/attention.ts';
import { now } from '../../state/clock.ts';
import { deviceName } from '../../ui/value.tsx';

const defaultHeightPx = 320;
/** Sensors told in a popup. */
const popupValuesMax = 3;

/** Devices on a map, with what alerts say of them; those without a place are counted below it. */
export function DevicesMap(props: {
  readonly devices: readonly Device[];
  readonly heightPx?: number;
  readonly hasTools?: boolean;
  readonly alerts?: readonly Notification[] | undefined;
  /** Without a place, besides those of `devices`. */
  readonly homelessBesides?: number | undefined;
}): JSX.Element {
  const { devices, heightPx = defaultHeightPx, hasTools = false, homelessBesides = 0 } = props;
  const { concerns } = useAttention(devices, props.alerts);
  const places = devices.flatMap((device) =>
    placeOf(device, concerns.get(device.id), props.alerts),
  );
  const homeless = devices.length - places.length + homelessBesides;
  return (
    <div class="stack-tight">
      <MapOfPlaces places={places} heightPx={heightPx} hasTools={hasTools} />
      {places.length === 0 && <p class="small quiet">{t('map.nobody')}</p>}
      {places.length > 0 && homeless > 0 && (
        <p class="small quiet">{t('map.withoutPlace', { count: homeless })}</p>
      )}
    </div>
  );
}

function placeOf(
  device: Device,
  concern: string | undefined,
  alerts: readonly Notification[] = [],
): readonly MapPlace[] {
  const { id, location, sensors } = device;
  if (location === undefined) return [];
  const heardAt = lastHeardAt(device);
  const freshness = freshnessOf(heardAt, now.value);
  const values = sensors
    .filter(({ last_value }) => instantOf(last_value) !== undefined)
    .slice(0, popupValuesMax)
    .map(({ id: sensorId, last_value, unit }) => {
      const symbol = typeof last_value?.value === 'boolean' ? '' : ` ${unitSymbol(unit)}`;
      const line = thresholdOf(alerts, device, sensorId);
      return `${formatValue(last_value?.value, language.value, t, line)}${symbol}`.trim();
    });
  return [
    {
      id,
      ...{ latitude: location.latitude, longitude: location.longitude },
      name: deviceName(device),
      state: concern !== undefined ? 'alert' : freshness === 'never' ? 'off' : freshness,
      text: [concern, ...values, formatAge(heardAt, now.value, t)]
        .filter((part) => part !== undefined)
        .join(' · '),
      href: screenPaths.device(id),
    },
  ];
}
