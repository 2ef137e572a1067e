import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAlerts } from '../../state/alerts.ts';
import { mapPage, withoutPhotos } from '../../state/list-pages.ts';
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
  const whose = isMine ? `owner=='${user}';` : '';
  const q = `${whose}location`;
  const found = useResource(
    `map ${user ?? ''} ${q}`,
    (signal) =>
      api.getPage<Device>({
        path: '/devices',
        query: { q, limit: mapPage, ...withoutPhotos },
        signal,
      }),
    { isKept: true },
  );
  const homeless = useResource(`map ${user ?? ''} ${whose}!location`, async (signal) => {
    const query = { q: `${whose}!location`, limit: 1 };
    return (await api.getPage<Device>({ path: '/devices', query, signal })).total;
  });
  const devices = useLiveDevices(found.value?.items ?? none);
  const alerts = useAlerts(found.value?.items ?? none);
  const total = found.value?.total ?? 0;
  return (
    <div class="stack map-screen">
      <header class="screen-head">
        <h1>{t('shell.map')}</h1>
        <LiveMark />
      </header>
      {user !== undefined && (
        <fieldset class="segments" aria-label={t('home.whose')}>
          {(['mine', 'all'] as const).map((choice) => (
            <button
              key={choice}
              type="button"
              class="segment"
              aria-pressed={isMine === (choice === 'mine')}
              onClick={() => route(choice === 'mine' ? '/map' : '/map?whose=all', true)}
            >
              {t(`home.${choice}`)}
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
        <DevicesMap
          devices={devices}
          alerts={alerts.value}
          homelessBesides={homeless.value}
          hasTools
        />
      )}
      {devices.length < total && (
        <p class="quiet">{t('home.shownOf', { shown: devices.length, count: total })}</p>
      )}
    </div>
  );
}
