import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Notification } from '../../api/alert-types.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAlerts } from '../../state/alerts.ts';
import { useAttention } from '../../state/attention.ts';
import { now } from '../../state/clock.ts';
import { homePage } from '../../state/list-pages.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { readLook } from '../../state/look-choice.ts';
import { me, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeviceCard } from './device-card.tsx';
import { DeviceLines } from './device-lines.tsx';
import { Filters } from './filters.tsx';
import { type Found, useFoundDevices } from './found-devices.ts';
import { byName, byTrouble } from './trouble.ts';
import { isNarrowed, type Look, readView, type View, viewPath } from './view.ts';

/** The own devices: what is wrong first, then all the others. */
export function Home(): JSX.Element {
  const { query, route } = useLocation();
  const view = readView(query);
  const { look = readLook(), pages = 1 } = view;
  const { found, all } = useFoundDevices(view, look);
  // What is wrong comes first on the screen: cards wait for the alerts that say so.
  const alerts = useAlerts();
  const isKnown = alerts.value !== undefined || alerts.error !== undefined;
  const change = (next: View): void => route(viewPath(next), true);
  const narrow = ({ pages: _pages, ...next }: View): void => change(next);
  const total = found.value?.total ?? 0;
  const isMany = look === 'lines' || total > homePage;
  const name = me.value?.firstName ?? username.value ?? '';
  const hello = greeting();
  return (
    <div class="stack">
      <header class="screen-head home-head">
        <h1 title={hello + name}>
          <span>{hello}</span>
          <span>{name}</span>
        </h1>
        <LiveMark />
      </header>
      <Filters view={view} look={look} onView={narrow} />
      <Remembered resource={found} />
      {found.error !== undefined && found.rememberedFrom === undefined && (
        <ErrorBox error={found.error} onRetry={found.reload} />
      )}
      {found.value === undefined || !isKnown ? (
        found.error === undefined && <CardSkeletons />
      ) : (
        <>
          {isMany && (
            <Summary total={total} all={all} alerts={alerts.value} view={view} look={look} />
          )}
          <Devices
            found={found.value}
            alerts={alerts.value}
            view={view}
            look={look}
            onView={narrow}
          >
            {look === 'cards' && found.value.devices.length < found.value.total && (
              <button
                type="button"
                class="button button-wide"
                disabled={found.isLoading}
                onClick={() => change({ ...view, pages: pages + 1 })}
              >
                {t('home.showMore')}
              </button>
            )}
          </Devices>
        </>
      )}
    </div>
  );
}

const none: readonly Device[] = [];

/** What is true for all devices of the view, however many of them are shown. */
function Summary(props: {
  readonly total: number;
  readonly all: Found | undefined;
  readonly alerts: readonly Notification[] | undefined;
  readonly view: View;
  readonly look: Look;
}): JSX.Element {
  const { total, all, view, look } = props;
  const { wanting } = useAttention(all?.devices ?? none, props.alerts);
  const isKnown = all !== undefined && all.devices.length >= all.total;
  const said =
    wanting.length === 0 ? t('home.inAllWell') : t('home.inAllWanting', { count: wanting.length });
  return (
    <p class="quiet home-summary">
      {t('home.inAll', { count: t('common.devices', { count: total }) })}
      {isKnown && ' · '}
      {isKnown &&
        (wanting.length === 0 || look === 'lines' ? (
          said
        ) : (
          <a href={viewPath({ ...view, look: 'lines' })}>{said}</a>
        ))}
    </p>
  );
}

function Devices(props: {
  readonly found: Found;
  readonly alerts: readonly Notification[] | undefined;
  readonly view: View;
  readonly look: Look;
  readonly onView: (view: View) => void;
  readonly children: JSX.Element | false;
}): JSX.Element {
  const { found, view, look, onView, children } = props;
  const devices = useLiveDevices(found.devices);
  if (devices.length === 0) return <NoDevices view={view} onView={onView} />;
  const { wanting, others, concerns, isSilenceAll } = useAttention(devices, props.alerts);
  const List = look === 'lines' ? DeviceLines : Cards;
  const sorted = look === 'lines' ? byTrouble(wanting, concerns) : wanting;
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
          <List devices={sorted} concerns={concerns} />
        </section>
      )}
      {others.length > 0 && (
        <section class="stack-tight" aria-labelledby="others">
          <h2 id="others" class={wanting.length > 0 ? undefined : 'unseen'}>
            {t('home.rest')}
          </h2>
          <List devices={look === 'lines' ? others.toSorted(byName) : others} />
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
  const shown = useFirstFew(devices);
  return (
    <ul class="cards">
      {shown.map((device) => (
        <li key={device.id}>
          <DeviceCard device={device} concern={concerns?.get(device.id)} />
        </li>
      ))}
    </ul>
  );
}

/** No card takes less of the window, in square pixels. */
const cardArea = 50_000;
/** As many cards as the window shows; what is below is drawn right after them. */
const firstCards = Math.max(8, Math.ceil((innerWidth * innerHeight) / cardArea));
let areAllDrawn = false;

/** On a phone that is slow drawing many cards takes a second: those that are seen come first. */
function useFirstFew(devices: readonly Device[]): readonly Device[] {
  const [isWhole, setWhole] = useState(areAllDrawn);
  useEffect(() => {
    if (isWhole) return;
    const timer = setTimeout(() => {
      areAllDrawn = true;
      setWhole(true);
    });
    return () => clearTimeout(timer);
  }, [isWhole]);
  return isWhole ? devices : devices.slice(0, firstCards);
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

/** Words before the name: all languages greet in this order. */
function greeting(): string {
  const hour = new Date(now.value).getHours();
  const part = hour < 12 ? 'morning' : hour < 18 ? 'day' : 'evening';
  return t(`home.${part}`, { name: '' });
}
