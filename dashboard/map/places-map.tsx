import * as leaflet from 'leaflet';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { language, t } from '../i18n/i18n.ts';
import { boundsOf } from './clusters.ts';
import type { PlacesMapProps } from './map-props.ts';
import { createMarkers } from './markers.ts';
import { PlaceSearch } from './place-search.tsx';
import { useMap } from './use-map.ts';
import { WhereAmI } from './where-am-i.tsx';

/** A single place is shown with its surroundings. */
const lonelyZoom = 7;

/** Places on a map; near ones are one marker with their number. */
export function PlacesMap(props: PlacesMapProps): JSX.Element {
  const { places, heightPx, hasTools = false } = props;
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
      {hasTools && map !== undefined && (
        <>
          <PlaceSearch map={map} />
          <div class="map-here">
            <WhereAmI
              failed="positionFailed"
              refused="positionRefused"
              onFound={(position) => showPosition(map, position)}
            />
          </div>
        </>
      )}
    </section>
  );
}

/** Near enough to see the next towns. */
const positionZoom = 9;

/** Where one is, with how sure the browser is of it; what was shown before goes. */
function showPosition(map: leaflet.Map, position: GeolocationCoordinates): void {
  const { latitude, longitude, accuracy } = position;
  const color = getComputedStyle(map.getContainer()).getPropertyValue('--brand').trim();
  positions.get(map)?.remove();
  const at: leaflet.LatLngTuple = [latitude, longitude];
  const group = leaflet
    .layerGroup([
      leaflet.circle(at, { radius: accuracy, color, weight: 1, interactive: false }),
      leaflet.circleMarker(at, {
        ...{ radius: 7, color: '#ffffff', weight: 2, fillColor: color, fillOpacity: 1 },
        interactive: false,
      }),
    ])
    .addTo(map);
  positions.set(map, group);
  map.setView(at, Math.max(map.getZoom(), positionZoom));
}

const positions = new WeakMap<leaflet.Map, leaflet.LayerGroup>();
