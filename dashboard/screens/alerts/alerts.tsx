import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Naming } from '../../alerts/condition-words.ts';
import { actionWords, conditionWords } from '../../alerts/words.ts';
import type { Notification } from '../../api/alert-types.ts';
import type { Page } from '../../api/client.ts';
import { apiPaths, screenPaths } from '../../api/paths.ts';
import { formatAge } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';
import { ofService } from '../../i18n/refusals.ts';
import { useAction } from '../../state/action.ts';
import { useAlertDevices } from '../../state/alert-devices.ts';
import { useNaming } from '../../state/alerts.ts';
import { now } from '../../state/clock.ts';
import { alertsOf } from '../../state/list-pages.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import '../../state/usual-words.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { hasItsWords, Lacks } from './lacks.tsx';

/** What is watched, and what came of it. */
export function Alerts(): JSX.Element {
  const { query, route } = useLocation();
  const whose = query['whose'] === 'all' ? 'all' : 'mine';
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('shell.alerts')}</h1>
        <a class="button button-main" href="/alerts/new">
          <Icon name="plus" />
          {t('alerts.new')}
        </a>
      </header>
      <fieldset class="segments" aria-label={t('home.whose')}>
        {(['mine', 'all'] as const).map((choice) => (
          <button
            key={choice}
            type="button"
            class="segment"
            aria-pressed={whose === choice}
            onClick={() => route(choice === 'mine' ? '/alerts' : '/alerts?whose=all', true)}
          >
            {t(`home.${choice}`)}
          </button>
        ))}
      </fieldset>
      <AlertList key={whose} whose={whose} />
    </div>
  );
}

/** Alerts of everybody that are asked for at once. */
const allAlertsPage = 100;

/** The own alerts, or all one may read, newest first. */
function useAlertPages(whose: 'mine' | 'all', pages: number): Resource<Page<Notification>> {
  const user = username.value;
  return useResource<Page<Notification>>(
    `alerts ${whose} ${user}`,
    async (signal) => {
      const query = whose === 'mine' ? alertsOf(user ?? '') : alertsOf('', allAlertsPage);
      const found = await Promise.all(
        Array.from({ length: pages }, (_, page) =>
          api.getPage<Notification>({
            path: apiPaths.alerts,
            query: { ...query, ...(page > 0 && { offset: page * query.limit }) },
            signal,
          }),
        ),
      );
      return { items: found.flatMap(({ items }) => items), total: found[0]?.total ?? 0 };
    },
    { isKept: true },
  );
}

function AlertList({ whose }: { readonly whose: 'mine' | 'all' }): JSX.Element {
  const [pages, setPages] = useState(1);
  const alerts = useAlertPages(whose, pages);
  const { error, reload, set } = alerts;
  const { items, total } = alerts.value ?? { items: undefined, total: 0 };
  // Sentences of the service wait for the reader's words.
  const value = items?.every(hasItsWords) === false ? undefined : items;
  const devices = useAlertDevices(devicesOf(value ?? []));
  const naming = useNaming(devices.value);
  const put = (changed: Notification): void =>
    set({
      items: (items ?? []).map((alert) => (alert.id === changed.id ? changed : alert)),
      total,
    });
  return (
    <>
      <Remembered resource={alerts} />
      {error !== undefined && alerts.rememberedFrom === undefined && (
        <ErrorBox error={error} onRetry={reload} />
      )}
      {value === undefined && error === undefined && <Skeleton height={240} />}
      {value?.length === 0 && (
        <div class="empty">
          <h2>{t('alerts.none')}</h2>
          <p class="quiet">{t('alerts.noneText')}</p>
        </div>
      )}
      <ul class="alert-list">
        {value?.map((alert) => (
          <li key={alert.id}>
            <AlertCard alert={alert} naming={naming} onChange={put} />
          </li>
        ))}
      </ul>
      {value !== undefined && value.length < total && (
        <button
          type="button"
          class="button button-wide"
          disabled={alerts.isLoading}
          onClick={() => {
            setPages(pages + 1);
            reload();
          }}
        >
          {t('home.showMore')}
        </button>
      )}
    </>
  );
}

const namedDevicesMax = 20;

/** Devices that alerts name, for their names; those beyond are shown by their ids. */
function devicesOf(alerts: readonly Notification[]): readonly string[] {
  const ids = new Set(alerts.flatMap(({ condition }) => condition.devices.slice(0, 1)));
  return [...ids].sort().slice(0, namedDevicesMax);
}

function AlertCard(props: {
  readonly alert: Notification;
  readonly naming: Naming;
  readonly onChange: (alert: Notification) => void;
}): JSX.Element {
  const { alert, naming, onChange } = props;
  const { description = '' } = alert;
  const said = conditionWords(alert, naming);
  return (
    <article class={alert.status === 'active' ? 'surface alert-card' : 'surface alert-card is-off'}>
      <a class="alert-text" href={screenPaths.alert(alert.id)}>
        {description !== '' && <strong>{description}</strong>}
        <span class="alert-sentence">{said}</span>
        <span class="quiet">{actionWords(alert, naming)}</span>
        <span class="quiet small">
          {historyWords(alert)}
          {alert.owner !== username.value && <> · {t('home.ownedBy', { name: alert.owner })}</>}
        </span>
        <Failure alert={alert} />
        <Lacks alert={alert} />
      </a>
      <AlertSwitch
        alert={alert}
        label={description === '' ? said : description}
        {...{ onChange }}
      />
    </article>
  );
}

/** "Fired 3 h ago · 4 messages". */
export function historyWords({ last_notification, times_sent }: Notification): string {
  if (last_notification === undefined) return t('alerts.neverFired');
  const age = formatAge(Date.parse(last_notification), now.value, t);
  return `${t('alerts.fired', { age })} · ${t('alerts.timesSent', { count: times_sent })}`;
}

/** Its devices that are gone, and why the last message did not go, when none has gone since. */
export function Failure({ alert }: { readonly alert: Notification }): JSX.Element | null {
  const { last_failure, last_failure_reason, last_success, gone_devices: gone } = alert;
  if (gone !== undefined) {
    return <span class="field-error">{t('alerts.gone', { devices: gone.join(', ') })}</span>;
  }
  if (last_failure === undefined) return null;
  if (last_success !== undefined && last_success > last_failure) return null;
  return (
    <span class="field-error">
      {t('alerts.lastFailed', { reason: ofService(last_failure_reason ?? '') })}
    </span>
  );
}

/** Pauses an alert, or lets it go on; shows it at once. */
export function AlertSwitch(props: {
  readonly alert: Notification;
  readonly label: string;
  readonly onChange: (alert: Notification) => void;
}): JSX.Element | null {
  const { alert, label, onChange } = props;
  const action = useAction();
  const isActive = alert.status === 'active';
  if (alert.owner !== username.value && !isAdmin.value) return null;
  async function toggle(): Promise<void> {
    const status = isActive ? 'inactive' : 'active';
    onChange({ ...alert, status });
    const path = `${apiPaths.alert(alert.id)}/status`;
    const isDone = await action.run(() => api.send({ method: 'PUT', path, body: status }));
    if (!isDone) onChange(alert);
  }
  return (
    <span class="alert-switch">
      <label class="choice">
        <span class="small quiet" aria-hidden="true">
          {t(isActive ? 'alerts.active' : 'alerts.paused')}
        </span>
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-checked={isActive}
          aria-label={t('alerts.watching', { alert: label })}
          checked={isActive}
          onChange={() => void toggle()}
        />
      </label>
      <FormError text={action.error} />
    </span>
  );
}
