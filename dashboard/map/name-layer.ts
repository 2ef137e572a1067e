import * as leaflet from 'leaflet';
import { language, t } from '../i18n/i18n.ts';
import { type Box, isOver, type NamedPlace, namesAt, namingIn, type Shore } from './world-names.ts';
import { worldPlaces } from './world-places.ts';

/** Says that the markers of a map were drawn anew. */
export const markersDrawn = 'markersdrawn';

const pane = 'names';
/** Above the ground at 400, below the markers at 600. */
const paneDepth = '450';
/** At most this many names at once: more is noise, and slow on a phone. */
const shownMax = 60;
const lineEms = 1.3;
const letterEms = 0.56;
/** Capitals with space between them are wider. */
const countryLetterEms = 0.8;
const dotPx = 10;
const markerPx = 34;

/** Writes the names of countries, lakes and towns on a map, and its lakes. */
export async function addNames(map: leaflet.Map): Promise<void> {
  const { names, shores } = await worldPlaces();
  if (!map.getContainer().isConnected) return;
  addShores(map, shores);
  const place = map.createPane(pane);
  place.style.zIndex = paneDepth;
  place.setAttribute('aria-hidden', 'true');
  const draw = (): void => {
    place.replaceChildren(...labels(map, names));
    place.hidden = false;
  };
  map.on(`moveend zoomend ${markersDrawn}`, draw);
  // While it zooms, names would be where their places are no longer.
  map.on('zoomstart', () => {
    place.hidden = true;
  });
  draw();
}

/** Lakes look like the sea. */
function addShores(map: leaflet.Map, shores: readonly Shore[]): void {
  const style = getComputedStyle(map.getContainer());
  const color = (token: string): string => style.getPropertyValue(token).trim();
  const look: leaflet.PolylineOptions = {
    ...{ color: color('--line-strong'), weight: 0.8, opacity: 0.55, interactive: false },
    ...{ fill: true, fillColor: color('--sunken'), fillOpacity: 1 },
    renderer: leaflet.canvas({ padding: 0.3 }),
  };
  for (const shore of shores) {
    const corners = shore.map(([longitude, latitude]) => leaflet.latLng(latitude, longitude));
    leaflet.polygon(corners, look).addTo(map);
  }
}

/** The names that have room, the most important first. */
function labels(map: leaflet.Map, names: readonly NamedPlace[]): readonly HTMLElement[] {
  const naming = namingIn(language.value, (name) => t('map.lake', { name }));
  const view = map.getBounds().pad(0.1);
  const taken = markerBoxes(map);
  const shown: HTMLElement[] = [];
  for (const place of namesAt(names, Math.round(map.getZoom()))) {
    if (shown.length >= shownMax) break;
    const at = leaflet.latLng(place.latitude, place.longitude);
    if (!view.contains(at)) continue;
    const text = naming(place);
    const point = map.latLngToLayerPoint(at);
    const box = boxOf(place, text, point);
    if (taken.some((other) => isOver(box, other))) continue;
    taken.push(box);
    shown.push(nameElement(place, text, point));
  }
  return shown;
}

/** The outer element stands on the point, the inner one beside or around it. */
function nameElement({ kind }: NamedPlace, text: string, point: leaflet.Point): HTMLElement {
  const element = document.createElement('span');
  element.className = `map-name is-${kind}`;
  const words = document.createElement('span');
  words.textContent = text;
  element.append(words);
  leaflet.DomUtil.setPosition(element, point);
  return element;
}

/** Where a name goes: beside the dot of a town, else around its place. */
function boxOf({ kind }: NamedPlace, text: string, { x, y }: leaflet.Point): Box {
  const em = (kind === 'country' ? 13 : 12) * textScale();
  const width = text.length * em * (kind === 'country' ? countryLetterEms : letterEms) + dotPx;
  const height = em * lineEms;
  return {
    left: kind === 'town' ? x - dotPx / 2 : x - width / 2,
    top: y - height / 2,
    width,
    height,
  };
}

const textScale = (): number =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;

function markerBoxes(map: leaflet.Map): Box[] {
  const boxes: Box[] = [];
  map.eachLayer((layer) => {
    if (!(layer instanceof leaflet.Marker)) return;
    const { x, y } = map.latLngToLayerPoint(layer.getLatLng());
    boxes.push({
      left: x - markerPx / 2,
      top: y - markerPx / 2,
      width: markerPx,
      height: markerPx,
    });
  });
  return boxes;
}
