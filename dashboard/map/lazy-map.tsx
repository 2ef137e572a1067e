import type { ComponentType, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t, wordsFor } from '../i18n/i18n.ts';
import { laterStyles } from '../shell/later-styles.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useSeen } from '../ui/use-seen.ts';
import type { LocationPickerProps, PlacesMapProps } from './map-props.ts';

/** Places on a map; its code and its ground are fetched when the first map comes into sight. */
export const MapOfPlaces = (props: PlacesMapProps): JSX.Element => (
  <Lazy load={loadPlaces} heightPx={props.heightPx} props={props} />
);

/** Picks a place on a map, likewise. */
export const PickLocation = (props: LocationPickerProps): JSX.Element => (
  <Lazy load={loadPicker} heightPx={440} props={props} />
);

const loadPlaces = () => import('./places-map.tsx').then(({ PlacesMap }) => PlacesMap);
const loadPicker = () =>
  import('./location-picker.tsx').then(({ LocationPicker }) => LocationPicker);

function Lazy<Props extends object>({
  load,
  heightPx,
  props,
}: {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly heightPx: number;
  readonly props: Props;
}): JSX.Element {
  const [Found, setFound] = useState<ComponentType<Props>>();
  const [hasFailed, setFailed] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(place);
  useLayoutEffect(() => {
    if (!isSeen || Found !== undefined || hasFailed) return;
    let isCurrent = true;
    Promise.all([load(), wordsFor(2), laterStyles()])
      .then(([component]) => {
        if (isCurrent) setFound(() => component);
      })
      .catch(() => {
        if (isCurrent) setFailed(true);
      });
    return () => {
      isCurrent = false;
    };
  }, [isSeen, Found, hasFailed, load]);
  if (hasFailed) return <ErrorBox text={t('map.failed')} onRetry={() => setFailed(false)} />;
  if (Found !== undefined) return <Found {...props} />;
  // Out of sight nothing is under way, so it is no skeleton yet: just its place.
  return (
    <div ref={place} class="map-room" style={{ '--map-height': `${heightPx}px` }}>
      {isSeen && <Skeleton height={heightPx} />}
    </div>
  );
}
