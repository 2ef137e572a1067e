import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type DeviceFilter, deviceQueries } from '../../api/device-query.ts';
import type { Device, MyGrants } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAttention } from '../../state/attention.ts';
import { now } from '../../state/clock.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, me, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeviceCard } from './device-card.tsx';
import { Filters } from './filters.tsx';
import { isNarrowed, readView, type View, viewPath } from './view.ts';

const pageDevices = 48;

interface Found {
  readonly devices: readonly Device[];
  readonly total: number;
}

/** The own devices: what is wrong first, then all the others. */
export function Home(): JSX.Element {
  const { query, route } = useLocation();
  const view = readView(query);
  const [pages, setPages] = useState(1);
  const viewKey = viewPath(view);
  useEffect(() => setPages(1), [viewKey]);
  const found = useDevices(view, pages);
  const change = (next: View): void => route(viewPath(next), true);
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{greeting()}</h1>
        <LiveMark />
      </header>
      <Filters view={view} onView={change} />
      <Remembered resource={found} />
      {found.error !== undefined && found.rememberedFrom === undefined && (
        <ErrorBox error={found.error} onRetry={found.reload} />
      )}
      {found.value === undefined ? (
        found.error === undefined && <CardSkeletons />
      ) : (
        <Devices found={found.value} view={view} onView={change}>
          {found.value.devices.length < found.value.total && (
            <button
              type="button"
              class="button button-wide"
              disabled={found.isLoading}
              onClick={() => setPages(pages + 1)}
            >
              {t('home.showMore')}
            </button>
          )}
        </Devices>
      )}
    </div>
  );
}

function Devices(props: {
  readonly found: Found;
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly children: JSX.Element | false;
}): JSX.Element {
  const { found, view, onView, children } = props;
  const devices = useLiveDevices(found.devices);
  if (devices.length === 0) return <NoDevices view={view} onView={onView} />;
  const { wanting, others, concerns, isSilenceAll } = useAttention(devices);
  const isAll = devices.length >= found.total;
  const headline = isSilenceAll
    ? (`home.attention${isAll ? '' : 'Some'}` as const)
    : (`alerts.needs${isAll ? '' : 'Some'}` as const);
  return (
    <>
      {wanting.length > 0 && (
        <section class="stack-tight" aria-labelledby="wanting">
          <h2 id="wanting" class="alert-title">
            {t(headline, { count: wanting.length })}
          </h2>
          <Cards devices={wanting} concerns={concerns} />
        </section>
      )}
      {others.length > 0 && (
        <section class="stack-tight" aria-labelledby="others">
          <h2 id="others" class={wanting.length > 0 ? undefined : 'unseen'}>
            {t('home.rest')}
          </h2>
          <Cards devices={others} />
        </section>
      )}
      {!isAll && (
        <p class="quiet">{t('home.shownOf', { shown: devices.length, count: found.total })}</p>
      )}
      {children}
    </>
  );
}

function Cards({
  devices,
  concerns,
}: {
  readonly devices: readonly Device[];
  readonly concerns?: ReadonlyMap<string, string>;
}): JSX.Element {
  return (
    <ul class="cards">
      {devices.map((device) => (
        <li key={device.id}>
          <DeviceCard device={device} concern={concerns?.get(device.id)} />
        </li>
      ))}
    </ul>
  );
}

function NoDevices({
  view,
  onView,
}: {
  readonly view: View;
  readonly onView: (view: View) => void;
}): JSX.Element {
  if (isNarrowed(view)) {
    return (
      <div class="empty">
        <h2>{t('home.nothingFound')}</h2>
        <p class="quiet">{t('home.nothingFoundText')}</p>
        <button type="button" class="button" onClick={() => onView({ whose: view.whose })}>
          {t('home.clearFilters')}
        </button>
      </div>
    );
  }
  if (view.whose === 'shared') return <p class="empty quiet">{t('home.nothingShared')}</p>;
  return (
    <div class="empty">
      <h2>{t('home.emptyTitle')}</h2>
      <p class="quiet">{t('home.emptyText')}</p>
      <a class="button button-main" href="/new-device">
        <Icon name="plus" />
        {t('home.newDevice')}
      </a>
    </div>
  );
}

function CardSkeletons(): JSX.Element {
  return (
    <div class="cards" role="status">
      <span class="unseen">{t('common.loading')}</span>
      {[1, 2, 3, 4, 5, 6].map((place) => (
        <Skeleton key={place} height={148} />
      ))}
    </div>
  );
}

function useDevices(view: View, pages: number): Resource<Found> {
  const limit = pages * pageDevices;
  const user = username.value;
  return useResource<Found>(
    `home ${user} ${viewPath(view)} ${limit}`,
    async (signal) => {
      const filter = await filterOf(view, user, signal);
      if (filter === undefined) return { devices: [], total: 0 };
      const answers = await Promise.all(
        deviceQueries(filter).map((q) =>
          api.getPage<Device>({ path: '/devices', query: { q, limit }, signal }),
        ),
      );
      const devices = new Map(
        answers.flatMap(({ items }) => items.map((item) => [item.id, item] as const)),
      );
      const [first, second] = answers;
      // Found by name and by id: what both found is counted once, as far as it was seen.
      const seen = answers.reduce((sum, { items }) => sum + items.length, 0);
      const all = (first?.total ?? 0) + (second?.total ?? 0);
      return { devices: [...devices.values()], total: all - (seen - devices.size) };
    },
    { isKept: pages === 1 && !isNarrowed(view) },
  );
}

/** Undefined: there can be none. */
async function filterOf(
  view: View,
  user: string | undefined,
  signal: AbortSignal,
): Promise<DeviceFilter | undefined> {
  const { whose, ...filter } = view;
  if (whose === 'mine' && user !== undefined) return { ...filter, owner: user };
  if (whose !== 'shared') return filter;
  const { received } = await api.getJson<MyGrants>({ path: '/users/me/grants', signal });
  const ids = received.filter(({ kind }) => kind === 'device').map(({ resource }) => resource);
  return ids.length === 0 ? undefined : { ...filter, ids };
}

function greeting(): string {
  const name = me.value?.firstName ?? username.value ?? '';
  const hour = new Date(now.value).getHours();
  const part = hour < 12 ? 'morning' : hour < 18 ? 'day' : 'evening';
  return t(`home.${part}`, { name });
}
