import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Notification } from '../../api/alert-types.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAlerts } from '../../state/alerts.ts';
import { useAttention } from '../../state/attention.ts';
import { homePage } from '../../state/list-pages.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { useResource } from '../../state/resource.ts';
import { username } from '../../state/session.ts';
import { Icon } from '../../ui/icons.tsx';
import { Cards } from './cards.tsx';
import { DeviceLines } from './device-lines.tsx';
import { type Found, loadDevices } from './found-devices.ts';
import { isNarrowed, type Look, type View, viewPath } from './view.ts';

const none: readonly Device[] = [];

/** The part below the devices of a view: devices that others share, or what there is to do. */
export function Below(props: {
  readonly view: View;
  /** How many devices the view has. */
  readonly count: number;
  readonly alerts: readonly Notification[] | undefined;
  readonly look: Look;
  readonly onView: (view: View) => void;
}): JSX.Element | null {
  const { view, count, onView } = props;
  const { whose } = view;
  const isMine = whose === 'mine' && !isNarrowed(view);
  const user = username.value;
  const { value, error } = useResource<Found>(
    isMine ? `home ${user} shared too` : undefined,
    (signal) => loadDevices({ whose: 'shared' }, { limit: homePage, user, signal }),
    { isKept: true },
  );
  // Of a project that is shared, some may be the own ones.
  const others = useMemo(
    () => value?.devices.filter(({ owner }) => owner !== user) ?? none,
    [value, user],
  );
  const devices = useLiveDevices(others);
  const theirs = useAlerts(others, []);
  const alerts = useMemo(
    () => [...(props.alerts ?? []), ...(theirs.value ?? [])],
    [props.alerts, theirs.value],
  );
  const { wanting, others: fine, concerns } = useAttention(devices, alerts);
  if (devices.length === 0) {
    const isKnown = !isMine || value !== undefined || error !== undefined;
    if (count > 0 || !isKnown) return null;
    if (isNarrowed(view)) return <NothingFound onClear={() => onView({ whose })} />;
    if (whose === 'shared') return <p class="empty quiet">{t('home.nothingShared')}</p>;
    return <FirstDevice />;
  }
  // Devices that need attention come first: the list waits for alerts, so that none moves later.
  if (theirs.value === undefined && theirs.error === undefined) return null;
  const List = props.look === 'lines' ? DeviceLines : Cards;
  return (
    <section class="stack-tight" aria-labelledby="shared-too">
      <h2 id="shared-too">{t('home.shared')}</h2>
      <List devices={[...wanting, ...fine]} concerns={concerns} />
      {value !== undefined && value.total > value.devices.length && (
        <a class="button button-wide" href={viewPath({ whose: 'shared' })}>
          {t('home.showMore')}
        </a>
      )}
    </section>
  );
}

function FirstDevice(): JSX.Element {
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

function NothingFound({ onClear }: { readonly onClear: () => void }): JSX.Element {
  return (
    <div class="empty">
      <h2>{t('home.nothingFound')}</h2>
      <p class="quiet">{t('home.nothingFoundText')}</p>
      <button type="button" class="button" onClick={onClear}>
        {t('home.clearFilters')}
      </button>
    </div>
  );
}
