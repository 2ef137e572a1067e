import type { JSX } from 'preact';
import { channelWord } from '../../alerts/words.ts';
import type { Delivery, Notification } from '../../api/alert-types.ts';
import { apiPaths } from '../../api/paths.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { areRefusalsSettled, ofService } from '../../i18n/refusals.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const deliveriesShown = 50;

/** What an alert sent to whom, and how far it came. */
export function Deliveries({ alert }: { readonly alert: Notification }): JSX.Element {
  const found = useResource(`deliveries ${alert.id}`, (signal) =>
    api.getPage<Delivery>({
      path: `${apiPaths.alert(alert.id)}/deliveries`,
      query: { limit: deliveriesShown },
      signal,
    }),
  );
  const { error, reload } = found;
  const isQuoting = found.value?.items.some(({ reason }) => reason !== undefined) === true;
  const value = isQuoting && !areRefusalsSettled() ? undefined : found.value;
  return (
    <section class="stack-tight" aria-labelledby="deliveries">
      <div class="row row-apart">
        <h2 id="deliveries">{t('alerts.deliveries')}</h2>
        <button type="button" class="button button-quiet" onClick={reload}>
          {t('alerts.refresh')}
        </button>
      </div>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={88} />}
      {value?.items.length === 0 && <p class="quiet">{t('alerts.noDeliveries')}</p>}
      {value !== undefined && value.items.length > 0 && (
        <ul class="menu alert-events">
          {value.items.map((delivery, index) => (
            <li key={`${delivery.created} ${index}`}>
              <DeliveryLine delivery={delivery} />
            </li>
          ))}
        </ul>
      )}
      {value !== undefined && value.total > value.items.length && (
        <p class="quiet small">
          {t('alerts.deliveriesOf', { shown: value.items.length, count: value.total })}
        </p>
      )}
    </section>
  );
}

function DeliveryLine({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  const { username, channel, message, status, attempts, created, sent, next_attempt, reason } =
    delivery;
  const time = (text: string | undefined): string =>
    text === undefined
      ? ''
      : formatDate(Date.parse(text), { language: language.value, style: 'moment' });
  const isActuation = channel === 'actuation';
  return (
    <div class="stack-tight">
      <span class="row row-apart">
        <span class={`delivery-state is-${status}`}>{t(`alerts.delivery-${status}`)}</span>
        <time class="quiet small" dateTime={created}>
          {time(sent ?? created)}
        </time>
      </span>
      <span class="quote">{message}</span>
      <span class="quiet small">
        {isActuation
          ? t('alerts.byControl')
          : t('alerts.byTo', { channel: channelWord(channel, t), name: username })}
        {attempts > 1 && <> · {t('alerts.attempts', { count: attempts })}</>}
        {status === 'pending' && next_attempt !== undefined && (
          <> · {t('alerts.nextTry', { time: time(next_attempt) })}</>
        )}
      </span>
      {status !== 'sent' && reason !== undefined && (
        <span class={status === 'failed' ? 'field-error' : 'quiet small'}>{ofService(reason)}</span>
      )}
    </div>
  );
}
