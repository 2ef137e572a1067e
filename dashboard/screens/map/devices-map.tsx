import type { JSX } from 'preact';
import { freshnessOf, instantOf, lastHeardAt } from '../../api/freshness.ts';
import { screenPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { formatAge, formatValue } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { MapOfPlaces } from '../../map/lazy-map.tsx';
import type { MapPlace } from '../../map/map-place.ts';
import { now } from '../../state/clock.ts';
import { deviceName } from '../../ui/value.tsx';

const defaultHeightPx = 320;
/** Sensors told in a popup. */
const popupValuesMax = 3;

/** Devices on a map; those without a place are counted below it. */
export function DevicesMap(props: {
  readonly devices: readonly Device[];
  readonly heightPx?: number;
  readonly hasTools?: boolean;
}): JSX.Element {
  const { devices, heightPx = defaultHeightPx, hasTools = false } = props;
  const places = devices.flatMap(ownerOfTopic);
  const homeless = devices.length - places.length;
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

function ownerOfTopic(device: Device): readonly MapPlace[] {
  const { id, location, sensors } = device;
  if (location === undefined) return [];
  const heardAt = lastHeardAt(device);
  const freshness = freshnessOf(heardAt, now.value);
  const values = sensors
    .filter(({ last_value }) => instantOf(last_value) !== undefined)
    .slice(0, popupValuesMax)
    .map(({ last_value, unit }) => {
      const symbol = typeof last_value?.value === 'boolean' ? '' : ` ${unitSymbol(unit)}`;
      return `${formatValue(last_value?.value, language.value, t)}${symbol}`.trim();
    });
  return [
    {
      id,
      ...{ latitude: location.latitude, longitude: location.longitude },
      name: deviceName(device),
      state: freshness === 'never' ? 'off' : freshness,
      text: [...values, formatAge(heardAt, now.value, t)].join(' · '),
      href: screenPaths.device(id),
    },
  ];
}
