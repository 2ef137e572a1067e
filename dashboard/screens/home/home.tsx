import type { JSX } from 'preact';
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
import { lazily } from '../../ui/lazy-part.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Cards } from './cards.tsx';
import { DeviceLines } from './device-lines.tsx';
import { Filters } from './filters.tsx';
import { type Found, useFoundDevices } from './found-devices.ts';
import { byName, byTrouble } from './trouble.ts';
import { type Look, readView, type View, viewPath } from './view.ts';

const Below = lazily(() => import('./below.tsx').then((module) => module.Below));

/** The own devices: what is wrong first, then all the others; then those of others. */
export function Home(): JSX.Element {
  const { query, route } = useLocation();
  const view = readView(query);
  const { look = readLook(), pages = 1 } = view;
  const { found, all } = useFoundDevices(view, look);
  // What is wrong comes first on the screen: cards wait for the alerts that say so.
  const alerts = useAlerts((all ?? found.value)?.devices ?? none);
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
          {isMany && <Summary total={total} all={all} alerts={alerts} view={view} look={look} />}
          <Devices found={found.value} alerts={alerts.value} look={look}>
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
          {found.value.devices.length >= total && (
            <Below view={view} count={total} alerts={alerts.value} look={look} onView={narrow} />
          )}
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
  readonly alerts: ReturnType<typeof useAlerts>;
  readonly view: View;
  readonly look: Look;
}): JSX.Element {
  const { total, all, alerts, view, look } = props;
  const { wanting } = useAttention(all?.devices ?? none, alerts.value);
  const isKnown = alerts.isWhole && all !== undefined && all.devices.length >= all.total;
  const said =
    wanting.length === 0 ? t('home.inAllWell') : t('home.inAllWanting', { count: wanting.length });
  return (
    <p class="quiet home-summary">
      {t('home.inAll', { count: t('common.devices', { count: total }) })}
      {isKnown && (
        <>
          {' · '}
          {wanting.length === 0 || look === 'lines' ? (
            said
          ) : (
            <a href={viewPath({ ...view, look: 'lines' })}>{said}</a>
          )}
        </>
      )}
    </p>
  );
}

function Devices(props: {
  readonly found: Found;
  readonly alerts: readonly Notification[] | undefined;
  readonly look: Look;
  readonly children: JSX.Element | false;
}): JSX.Element | null {
  const { found, look, children } = props;
  const devices = useLiveDevices(found.devices);
  if (devices.length === 0) return null;
  const { wanting, others, concerns, isSilenceAll } = useAttention(devices, props.alerts);
  const List = look === 'lines' ? DeviceLines : Cards;
  const sorted = look === 'lines' ? byTrouble(wanting, concerns) : wanting;
  const isAll = devices.length >= found.total;
  const what = isSilenceAll ? 'home.attention' : 'alerts.needs';
  return (
    <>
      {wanting.length > 0 && (
        <section class="stack-tight" aria-labelledby="wanting">
          <h2 id="wanting" class="alert-title">
            {t(`${what}${isAll ? '' : 'Some'}`, { count: wanting.length })}
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
