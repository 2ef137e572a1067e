import * as leaflet from 'leaflet';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { language, t } from '../i18n/i18n.ts';
import { boundsOf } from './clusters.ts';
import type { PlacesMapProps } from './map-props.ts';
import { createMarkers } from './markers.ts';
import { useMap } from './use-map.ts';

/** A single place is shown with its surroundings. */
const lonelyZoom = 7;

/** Places on a map; near ones are one marker with their number. */
export function PlacesMap(props: PlacesMapProps): JSX.Element {
  const { places, heightPx } = props;
  const { place, map } = useMap();
  const { route } = useLocation();
  const markers = useRef<ReturnType<typeof createMarkers>>(undefined);
  const shownIds = useRef('');

  useEffect(() => {
    if (map === undefined) return;
    markers.current = createMarkers(map, (href) => route(href));
    shownIds.current = '';
  }, [map]);

  useEffect(() => {
    if (map === undefined) return;
    // Other places move the view; values that change do not.
    const ids = places.map(({ id }) => id).join();
    const bounds = boundsOf(places);
    if (ids !== shownIds.current && bounds !== undefined) {
      const [south, north] = bounds;
      map.fitBounds(leaflet.latLngBounds([...south], [...north]), {
        padding: [40, 40],
        maxZoom: lonelyZoom,
        animate: false,
      });
    }
    shownIds.current = ids;
    markers.current?.show(places);
  }, [map, places, language.value]);

  return (
    <section class="map" aria-label={t('map.label', { count: places.length })}>
      <div class="map-ground" ref={place} style={{ '--map-height': `${heightPx}px` }} />
    </section>
  );
}
