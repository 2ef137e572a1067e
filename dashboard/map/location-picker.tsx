import * as leaflet from 'leaflet';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Location } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { parseCoordinate, roundCoordinate, wrapLongitude } from './coordinates.ts';
import type { LocationPickerProps } from './map-props.ts';
import { PlaceSearch } from './place-search.tsx';
import { useMap } from './use-map.ts';
import { WhereAmI } from './where-am-i.tsx';

/** Near enough to see which town it is, far enough to see a coast or a border. */
const pickedZoom = 6;

/** A place by a tap on the map, by typing its coordinates, or by asking the device where it is. */
export function LocationPicker({ value, onChange }: LocationPickerProps): JSX.Element {
  const { place, map } = useMap();
  const pick = (latitude: number, longitude: number): void =>
    onChange({
      latitude: roundCoordinate(latitude),
      longitude: roundCoordinate(wrapLongitude(longitude)),
    });
  const latest = useRef(pick);
  latest.current = pick;

  useEffect(() => {
    map?.on('click', ({ latlng }) => latest.current(latlng.lat, latlng.lng));
  }, [map]);
  useMarker(map, value);

  return (
    <div class="stack-tight">
      <p class="small quiet">{t('map.pick')}</p>
      <div class="map is-picker">
        <div class="map-ground" ref={place} style={{ height: '280px' }} />
        {map !== undefined && <PlaceSearch map={map} />}
      </div>
      <div class="row">
        <Coordinate name="latitude" max={90} value={value} onChange={onChange} />
        <Coordinate name="longitude" max={180} value={value} onChange={onChange} />
      </div>
      <div class="row">
        <WhereAmI
          failed="hereFailed"
          refused="hereRefused"
          onFound={({ latitude, longitude }) => pick(latitude, longitude)}
        />
        {value !== undefined && (
          <button type="button" class="button button-quiet" onClick={() => onChange(undefined)}>
            {t('map.remove')}
          </button>
        )}
      </div>
    </div>
  );
}

function useMarker(map: leaflet.Map | undefined, value: Location | undefined): void {
  useEffect(() => {
    if (map === undefined || value === undefined) return;
    const at: leaflet.LatLngTuple = [value.latitude, value.longitude];
    const icon = leaflet.divIcon({ className: 'map-mark is-picked', iconSize: [44, 44] });
    const marker = leaflet.marker(at, { icon, interactive: false, keyboard: false }).addTo(map);
    if (!map.getBounds().contains(at) || map.getZoom() < 5) {
      map.setView(at, Math.max(map.getZoom(), pickedZoom));
    }
    return () => {
      marker.remove();
    };
  }, [map, value?.latitude, value?.longitude]);
}

/** One half of a place, as text until it is a coordinate. */
function Coordinate(props: {
  readonly name: 'latitude' | 'longitude';
  readonly max: 90 | 180;
  readonly value: Location | undefined;
  readonly onChange: (value: Location) => void;
}): JSX.Element {
  const { name, max, value, onChange } = props;
  const given = value?.[name];
  const [text, setText] = useState(given === undefined ? '' : String(given));
  const isBad = text.trim() !== '' && parseCoordinate(text, max) === undefined;
  useEffect(() => {
    if (parseCoordinate(text, max) !== given) setText(given === undefined ? '' : String(given));
  }, [given]);
  const change = (next: string): void => {
    setText(next);
    const number = parseCoordinate(next, max);
    if (number === undefined) return;
    // The other half begins on the equator or at Greenwich, and is seen on the map at once.
    const { latitude = 0, longitude = 0 } = value ?? {};
    onChange({ latitude, longitude, [name]: number });
  };
  return (
    <label class="field">
      <span class="field-label">{t(`map.${name}`)}</span>
      <input
        class="input"
        inputMode="text"
        autocomplete="off"
        value={text}
        aria-invalid={isBad}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      {isBad && <span role="alert">{t(`map.${name}Bad`)}</span>}
    </label>
  );
}
