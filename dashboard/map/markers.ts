import * as leaflet from 'leaflet';
import { t } from '../i18n/i18n.ts';
import { boundsOf, type Cluster, clustersOf } from './clusters.ts';
import { countsOf, type MapPlace, worstState } from './map-place.ts';
import { markersDrawn } from './name-layer.ts';

/** Pads a field so that markers at its edge are whole. */
const paddingPx = 40;

/** Keeps the markers of a map: clusters by its zoom, drawn anew when it or the places change. */
export function createMarkers(
  map: leaflet.Map,
  onOpen: (href: string) => void,
): { readonly show: (places: readonly MapPlace[]) => void } {
  const layer = leaflet.layerGroup().addTo(map);
  let shown: readonly MapPlace[] = [];

  function draw(): void {
    layer.clearLayers();
    for (const cluster of clustersOf(shown, map.getZoom())) {
      const [only] = cluster.items;
      const isAlone = cluster.items.length === 1 || map.getZoom() >= map.getMaxZoom();
      if (only === undefined) continue;
      layer.addLayer(isAlone ? placeMarker(cluster.items, onOpen) : clusterMarker(cluster, map));
    }
    map.fire(markersDrawn);
  }
  map.on('zoomend', draw);
  return {
    show: (places) => {
      shown = places;
      draw();
    },
  };
}

function clusterMarker(cluster: Cluster<MapPlace>, map: leaflet.Map): leaflet.Marker {
  const { items, latitude, longitude } = cluster;
  const label = contentsOf(items);
  const marker = markerAt([latitude, longitude], {
    sign: String(items.length),
    className: `map-mark is-cluster is-${worstState(items)}`,
    label,
  });
  marker.on('add', () => showParts(marker.getElement(), items));
  marker.on('click keypress', (event) => {
    if (!isChosen(event)) return;
    const bounds = boundsOf(items);
    if (bounds === undefined) return;
    const [south, north] = bounds;
    const fit = leaflet.latLngBounds([...south], [...north]);
    const zoom = map.getBoundsZoom(fit, false, leaflet.point(paddingPx, paddingPx));
    // Places that cannot be told apart within the fit are nearer still one step closer.
    map.setView(fit.getCenter(), Math.max(map.getZoom() + 1, zoom));
  });
  return marker;
}

/** How many names a cluster tells. */
const toldMax = 4;

/** What is in a cluster, in words: how many, how they are, and which. */
function contentsOf(items: readonly MapPlace[]): string {
  const states = countsOf(items)
    .filter(({ state }) => state !== 'fresh')
    .map(({ state, count }) => `${t(`map.${state}`)}: ${count}`);
  const names = items.slice(0, toldMax).map(({ name }) => name);
  const list = [...names, ...(items.length > toldMax ? ['…'] : [])].join(', ');
  return [t('map.cluster', { count: items.length }), ...states, list].join(' · ');
}

/** The ring around the number of a cluster has a part for each state. */
function showParts(element: HTMLElement | undefined, items: readonly MapPlace[]): void {
  let from = 0;
  const parts = countsOf(items).map(({ state, count }) => {
    const to = from + (count / items.length) * 100;
    const part = `var(--${state}) ${from}% ${to}%`;
    from = to;
    return part;
  });
  element?.style.setProperty('--parts', `conic-gradient(${parts.join(', ')})`);
}

/** One place, or several at the very same spot. */
function placeMarker(places: readonly MapPlace[], onOpen: (href: string) => void): leaflet.Marker {
  const first = places[0];
  const label = places.map(({ name, state }) => `${name}, ${t(`map.${state}`)}`).join('; ');
  const sign = places.length > 1 ? String(places.length) : '';
  const marker = markerAt([first?.latitude ?? 0, first?.longitude ?? 0], {
    ...{ sign, label },
    className: `map-mark is-${worstState(places)}`,
  });
  return marker.bindPopup(() => popup(places, onOpen), { closeButton: false, minWidth: 160 });
}

function markerAt(
  at: leaflet.LatLngTuple,
  look: { readonly sign: string; readonly className: string; readonly label: string },
): leaflet.Marker {
  const element = document.createElement('span');
  element.textContent = look.sign;
  const icon = leaflet.divIcon({ html: element, className: look.className, iconSize: [44, 44] });
  const marker = leaflet.marker(at, { icon, keyboard: true, title: look.label, alt: look.label });
  marker.on('add', () => marker.getElement()?.setAttribute('aria-label', look.label));
  return marker;
}

function isChosen(event: leaflet.LeafletEvent): boolean {
  if (event.type === 'click') return true;
  const { originalEvent } = event as leaflet.LeafletKeyboardEvent;
  return originalEvent?.key === 'Enter' || originalEvent?.key === ' ';
}

/** How many places at one spot are listed. */
const popupPlacesMax = 12;

function popup(places: readonly MapPlace[], onOpen: (href: string) => void): HTMLElement {
  const list = document.createElement('ul');
  list.className = 'map-popup stack-tight';
  for (const place of places.slice(0, popupPlacesMax)) list.append(popupEntry(place, onOpen));
  return list;
}

/** Built of elements and texts: names are never read as HTML. */
function popupEntry(place: MapPlace, onOpen: (href: string) => void): HTMLElement {
  const { name, text, href, state } = place;
  const entry = document.createElement('li');
  const title = document.createElement(href === undefined ? 'strong' : 'a');
  title.textContent = name;
  if (href !== undefined && title instanceof HTMLAnchorElement) {
    title.href = href;
    title.addEventListener('click', (event) => {
      event.preventDefault();
      onOpen(href);
    });
  }
  const line = document.createElement('p');
  line.className = 'small';
  line.textContent = [t(`map.${state}`), text].filter((part) => part !== undefined).join(' · ');
  entry.append(title, line);
  return entry;
}
