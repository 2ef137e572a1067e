import * as leaflet from 'leaflet';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { pageSettings } from '../state/page-settings.ts';
import { theme } from '../state/theme.ts';
import { addBaseLayer, zoomMax } from './base-layer.ts';

/** Most of Africa: where this is used most. */
const startView = { center: [4, 18] as leaflet.LatLngTuple, zoom: 3 };

/** A map in an element, with its ground; made anew when the colours change. */
export function useMap(): {
  readonly place: { current: HTMLDivElement | null };
  readonly map: leaflet.Map | undefined;
} {
  const place = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<leaflet.Map>();
  const scheme = theme.value;

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = leaflet.map(element, {
      ...startView,
      minZoom: 1,
      maxZoom: zoomMax(),
      // Between whole steps the first view is on what there is; tiles are sharp at whole ones only.
      zoomSnap: pageSettings().tileUrl === undefined ? 0.25 : 1,
      zoomControl: false,
      attributionControl: false,
      worldCopyJump: true,
      zoomAnimation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
      // A page must stay scrollable by wheel and by one finger where a map is in the way.
      scrollWheelZoom: false,
    });
    leaflet.control
      .zoom({ zoomInTitle: t('map.zoomIn'), zoomOutTitle: t('map.zoomOut') })
      .addTo(made);
    leaflet.control.attribution({ prefix: false }).addTo(made);
    // Without its ground the map still has its markers.
    addBaseLayer(made).catch(() => undefined);
    const observer = new ResizeObserver(() => made.invalidateSize());
    observer.observe(element);
    const stopWheel = zoomByWheelWhenUsed(made);
    setMap(made);
    return () => {
      stopWheel();
      observer.disconnect();
      made.remove();
      setMap(undefined);
    };
  }, [scheme]);
  return { place, map };
}

/** Whoever has clicked into the map means it with the wheel as well. */
function zoomByWheelWhenUsed(map: leaflet.Map): () => void {
  const container = map.getContainer();
  const enable = (): void => void map.scrollWheelZoom.enable();
  const disable = (): void => void map.scrollWheelZoom.disable();
  container.addEventListener('pointerdown', enable);
  container.addEventListener('focusin', enable);
  container.addEventListener('pointerleave', disable);
  return () => {
    container.removeEventListener('pointerdown', enable);
    container.removeEventListener('focusin', enable);
    container.removeEventListener('pointerleave', disable);
  };
}
