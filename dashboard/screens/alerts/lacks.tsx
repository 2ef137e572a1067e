import type { JSX } from 'preact';
import { channelWord } from '../../alerts/words.ts';
import type { Notification } from '../../api/alert-types.ts';
import { t } from '../../i18n/i18n.ts';
import { areRefusalsSettled, ofService } from '../../i18n/refusals.ts';
import { username } from '../../state/session.ts';

const shownMax = 10;
/** The refusal of a channel that the service has not set up: no profile mends it. */
const ofThisService = /^the channel \S+ is not configured/;

/** Whether all words of an alert are there, with those for the sentences of the service in it. */
export function hasItsWords(alert: Notification): boolean {
  const { expression_problem, last_failure_reason, unreachable = [] } = alert;
  const isQuoting =
    expression_problem !== undefined || last_failure_reason !== undefined || unreachable.length > 0;
  return !isQuoting || areRefusalsSettled();
}

/** People an alert cannot reach, with how to mend it, and devices that are gone. */
export function Lacks({
  alert,
  hasLinks = false,
}: {
  readonly alert: Notification;
  readonly hasLinks?: boolean;
}): JSX.Element | null {
  const { unreachable = [], unknown_usernames: unknown = [], gone_devices: gone = [] } = alert;
  const { unknown_sensors: sensors = [] } = alert;
  const found = unreachable.filter((one) => !unknown.includes(one.username)).slice(0, shownMax);
  if (found.length + unknown.length + gone.length + sensors.length === 0) return null;
  return (
    <span class="stack-tight">
      {found.length > 0 && <span class="field-error">{t('alerts.cannotReach')}</span>}
      {found.map((one) => (
        <span key={`${one.username} ${one.channel}`} class="small">
          {t('alerts.unreached', {
            channel: channelWord(one.channel, t),
            name: one.username,
            reason: ofService(one.reason),
          })}{' '}
          {hasLinks && !ofThisService.test(one.reason) && <Mend username={one.username} />}
        </span>
      ))}
      {unknown.length > 0 && (
        <span class="field-error">
          {t('alerts.unknownNames', { names: unknown.slice(0, shownMax).join(', ') })}
        </span>
      )}
      {gone.length > 0 && (
        <span class="field-error">
          {t('alerts.goneDevices', { ids: gone.slice(0, shownMax).join(', ') })}
        </span>
      )}
      {sensors.length > 0 && (
        <span class="field-error">
          {t('alerts.unknownSensors', { ids: sensors.slice(0, shownMax).join(', ') })}
        </span>
      )}
    </span>
  );
}

function Mend({ username: name }: { readonly username: string }): JSX.Element {
  if (name.toLowerCase() !== username.value?.toLowerCase()) {
    return <span class="quiet">{t('alerts.mendTheirs', { name })}</span>;
  }
  return <a href="/profile">{t('alerts.mendOwn')}</a>;
}
