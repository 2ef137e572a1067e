import type { JSX } from 'preact';
import { channelWord } from '../../alerts/words.ts';
import type { ServiceState } from '../../api/types.ts';
import { formatAge, formatNumber } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { now } from '../../state/clock.ts';

/** How the service is: what runs, since when, and what waits for an administrator. */
export function ServiceFacts({ state }: { readonly state: ServiceState }): JSX.Element {
  const { version, started_at, last_backup_at, failed_messages, restart_needed } = state;
  const age = (date: string): string => formatAge(Date.parse(date), now.value, t);
  const failed = failed_messages
    .map(
      ({ channel, count }) => `${channelWord(channel, t)} ${formatNumber(count, language.value)}`,
    )
    .join(', ');
  const facts = [
    { name: t('usage.version'), text: version },
    { name: t('usage.started'), text: age(started_at) },
    {
      name: t('usage.backup'),
      text: last_backup_at === undefined ? t('usage.noBackup') : age(last_backup_at),
    },
    { name: t('usage.failedMessages'), text: failed === '' ? t('usage.noFailed') : failed },
  ];
  return (
    <section class="surface stack" aria-labelledby="service">
      <h2 id="service">{t('usage.service')}</h2>
      {restart_needed.length > 0 && (
        <p class="note" role="status">
          {t('usage.restart', { names: restart_needed.join(', ') })}
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
    </section>
  );
}
