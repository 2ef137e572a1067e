import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DevicesMap } from './devices-map.tsx';

/** The most that one page of the API answers. */
const devicesMax = 1_000;

/** Everything one may see, on one map. */
export function MapScreen(): JSX.Element {
  const { value, error, reload } = useResource(
    'map devices',
    (signal) =>
      api.getPage<Device>({
        path: apiPaths.devices,
        query: { q: 'location', limit: devicesMax },
        signal,
      }),
    { isKept: true },
  );
  const heightPx = Math.max(320, innerHeight - 220);
  return (
    <div class="stack">
      <h1>{t('map.title')}</h1>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined ? (
        <Skeleton height={heightPx} />
      ) : (
        <DevicesMap devices={value.items} heightPx={heightPx} />
      )}
      {value !== undefined && value.total > value.items.length && (
        <p class="small quiet">
          {t('map.onlySome', { shown: value.items.length, total: value.total })}
        </p>
      )}
    </div>
  );
}
