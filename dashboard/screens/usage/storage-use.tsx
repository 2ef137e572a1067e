import type { JSX } from 'preact';
import type { ServiceState } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { bytesText } from './bytes-text.ts';

/** What is stored and by whom most, and how much room the disk has left. */
export function StorageUse({
  storage,
}: {
  readonly storage: ServiceState['storage'];
}): JSX.Element {
  const { used, guests, guests_max, account_max, disk_free, disk_floor, refusals } = storage;
  const facts = [
    { name: t('usage.stored'), text: bytesText(used) },
    ...(disk_free === undefined ? [] : [{ name: t('usage.diskFree'), text: bytesText(disk_free) }]),
    {
      name: t('usage.guestsStored'),
      text: t('usage.of', { used: bytesText(guests), total: bytesText(guests_max) }),
    },
    {
      name: t('usage.quota'),
      text: account_max === undefined ? t('usage.noQuota') : bytesText(account_max),
    },
  ];
  return (
    <section class="surface stack" aria-labelledby="storage">
      <h2 id="storage">{t('usage.storage')}</h2>
      {disk_free !== undefined && disk_free < disk_floor && (
        <p class="note" role="status">
          {t('usage.diskLow', { floor: bytesText(disk_floor) })}
        </p>
      )}
      <dl class="reasons">
        {facts.map(({ name, text }) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {storage.largest.length > 0 && (
        <div class="stack-tight">
          <h3>{t('usage.mostStored')}</h3>
          <ol class="shares">
            {storage.largest.map(({ username, used: part }) => (
              <li key={username} class="row row-apart">
                <span class="grow">{username}</span>
                <span class="number">{bytesText(part)}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {refusals > 0 && <p class="field-error">{t('usage.refused', { count: refusals })}</p>}
      <p class="quiet small">{t('usage.storageText')}</p>
    </section>
  );
}
