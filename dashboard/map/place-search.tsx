import type * as leaflet from 'leaflet';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { language, t } from '../i18n/i18n.ts';
import { Icon } from '../ui/icons.tsx';
import { type NamedPlace, namingIn, searchPlaces } from './world-names.ts';
import { worldPlaces } from './world-places.ts';

const foundMax = 8;
/** How near a found place is looked at. */
const foundZooms = { country: 6, lake: 7, town: 9 } as const;

/** Finds a country, lake or town by its name, and shows it on the map. */
export function PlaceSearch({ map }: { readonly map: leaflet.Map }): JSX.Element {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly NamedPlace[]>();
  const naming = namingIn(language.value, (name) => t('map.lake', { name }));
  const search = (wanted: string): void => {
    setText(wanted);
    if (wanted.trim() === '') {
      setFound(undefined);
      return;
    }
    worldPlaces()
      .then(({ names }) => setFound(searchPlaces(names, wanted, { naming, max: foundMax })))
      .catch(() => setFound([]));
  };
  const show = (place: NamedPlace | undefined): void => {
    if (place === undefined) return;
    map.setView([place.latitude, place.longitude], foundZooms[place.kind]);
    setText(naming(place));
    setFound(undefined);
  };
  return (
    <search class="map-search">
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          show(found?.[0]);
        }}
      >
        <Icon name="search" />
        <input
          type="search"
          class="input"
          aria-label={t('map.search')}
          placeholder={t('map.search')}
          autocomplete="off"
          enterkeyhint="search"
          value={text}
          onInput={({ currentTarget }) => search(currentTarget.value)}
        />
      </form>
      {found !== undefined && (
        <div class="map-found" role="status">
          {found.length === 0 && <p class="small">{t('map.notFound')}</p>}
          {found.map((place) => (
            <button
              key={`${place.kind} ${place.name} ${place.latitude} ${place.longitude}`}
              type="button"
              onClick={() => show(place)}
            >
              {naming(place)}
              {place.region !== undefined && (
                <span class="quiet small"> · {naming(countryOf(place.region))}</span>
              )}
            </button>
          ))}
        </div>
      )}
    </search>
  );
}

const countryOf = (region: string): NamedPlace => ({
  ...{ kind: 'country', name: region, other: new Map(), rank: 0, latitude: 0, longitude: 0 },
});
