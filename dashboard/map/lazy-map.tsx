import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import type { LocationPickerProps, PlacesMapProps } from './map-props.ts';

/** Places on a map; its code is fetched when the first map is shown. */
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
  useEffect(() => {
    if (Found !== undefined || hasFailed) return;
    let isCurrent = true;
    load()
      .then((component) => {
        if (isCurrent) setFound(() => component);
      })
      .catch(() => {
        if (isCurrent) setFailed(true);
      });
    return () => {
      isCurrent = false;
    };
  }, [Found, hasFailed, load]);
  if (hasFailed) return <ErrorBox text={t('map.failed')} onRetry={() => setFailed(false)} />;
  return Found === undefined ? <Skeleton height={heightPx} /> : <Found {...props} />;
}
