import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { mapPage } from '../../state/list-pages.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { DevicesMap } from './devices-map.tsx';

const none: readonly Device[] = [];

/** Where everything stands: one's own devices, or all one may see. */
export function MapScreen(): JSX.Element {
  const { query, route } = useLocation();
  const user = username.value;
  const isMine = user !== undefined && query['whose'] !== 'all';
  const q = isMine ? `owner=='${user}';location` : 'location';
  const found = useResource(
    `map ${user ?? ''} ${q}`,
    (signal) => api.getPage<Device>({ path: '/devices', query: { q, limit: mapPage }, signal }),
    { isKept: true },
  );
  const devices = useLiveDevices(found.value?.items ?? none);
  const total = found.value?.total ?? 0;
  return (
    <div class="stack map-screen">
      <header class="screen-head">
        <h1>{t('shell.map')}</h1>
        <LiveMark />
      </header>
      {user !== undefined && (
        <fieldset class="segments" aria-label={t('home.whose')}>
          {(['mine', 'all'] as const).map((whose) => (
            <button
              key={whose}
              type="button"
              class="segment"
              aria-pressed={isMine === (whose === 'mine')}
              onClick={() => route(whose === 'mine' ? '/map' : '/map?whose=all', true)}
            >
              {t(`home.${whose}`)}
            </button>
          ))}
        </fieldset>
      )}
      <Remembered resource={found} />
      {found.error !== undefined && found.rememberedFrom === undefined && (
        <ErrorBox error={found.error} onRetry={found.reload} />
      )}
      {found.value === undefined ? (
        found.error === undefined && <div class="map-ground skeleton" aria-hidden="true" />
      ) : (
        <DevicesMap devices={devices} hasTools />
      )}
      {devices.length < total && (
        <p class="quiet">{t('home.shownOf', { shown: devices.length, count: total })}</p>
      )}
    </div>
  );
}
