import * as leaflet from 'leaflet';
import { feature } from 'topojson-client';
import { pageSettings } from '../state/page-settings.ts';
import { addNames } from './name-layer.ts';
import { wholeRings } from './whole-rings.ts';

/** Beyond this the outline is too coarse to be of any help. */
export const outlineZoomMax = 11;
/** As far as tile servers commonly go. */
export const tileZoomMax = 19;

/** How close the map goes. */
export const zoomMax = (): number =>
  pageSettings().tileUrl === undefined ? outlineZoomMax : tileZoomMax;

/** What everything else lies upon: tiles where a server for them is set, else the outline. */
export async function addBaseLayer(map: leaflet.Map): Promise<void> {
  const { tileUrl, tileAttribution } = pageSettings();
  if (tileUrl !== undefined) {
    leaflet
      .tileLayer(tileUrl, {
        maxZoom: tileZoomMax,
        ...(tileAttribution !== undefined && { attribution: asText(tileAttribution) }),
      })
      .addTo(map);
    return;
  }
  const { outline } = await import('kipimo:world-outline');
  // The map may have gone while its ground was on the way.
  if (!map.getContainer().isConnected) return;
  const style = getComputedStyle(map.getContainer());
  const color = (token: string): string => style.getPropertyValue(token).trim();
  leaflet
    .geoJSON(wholeRings(feature(outline, outline.objects.countries)), {
      interactive: false,
      // Cut off at the edge of the canvas, countries would have a border there.
      style: {
        ...{ color: color('--line-strong'), weight: 0.8, opacity: 0.55 },
        ...{ fillColor: color('--surface'), fillOpacity: 1, noClip: true },
        // One canvas, where thousands of vector elements would stutter on a phone.
        renderer: leaflet.canvas({ padding: 0.3 }),
      },
    })
    .addTo(map);
  await addNames(map);
}

/** The map shows attributions as HTML; ours is text. */
function asText(text: string): string {
  const element = document.createElement('span');
  element.textContent = text;
  return element.innerHTML;
}
