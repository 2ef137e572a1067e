import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';

const positionOptions: PositionOptions = {
  enableHighAccuracy: true,
  timeout: 20_000,
  maximumAge: 60_000,
};

/** Asks the browser where this is, and says why that did not work. */
export function WhereAmI(props: {
  /** What is said then, as keys of the section `map`. */
  readonly failed: 'hereFailed' | 'positionFailed';
  readonly refused: 'hereRefused' | 'positionRefused';
  readonly onFound: (position: GeolocationCoordinates) => void;
}): JSX.Element {
  const { failed, refused, onFound } = props;
  const [state, setState] = useState<'idle' | 'searching' | typeof failed | typeof refused>('idle');
  const search = (): void => {
    if (!('geolocation' in navigator)) {
      setState(failed);
      return;
    }
    setState('searching');
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        setState('idle');
        onFound(coords);
      },
      ({ code, PERMISSION_DENIED }) => setState(code === PERMISSION_DENIED ? refused : failed),
      positionOptions,
    );
  };
  return (
    <>
      <button type="button" class="button" disabled={state === 'searching'} onClick={search}>
        {t('map.hereIAm')}
      </button>
      {state !== 'idle' && (
        <span class="small" role="status">
          {t(`map.${state}`)}
        </span>
      )}
    </>
  );
}
