import type { User } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';

/** When somebody logged in last, to a day, and how many devices they own. */
export function activityOf({ last_login: at, devices = 0 }: User): string {
  const style = { language: language.value, style: 'day' } as const;
  const login =
    at === undefined
      ? t('users.neverLoggedIn')
      : t('users.lastLogin', { date: formatDate(Date.parse(at), style) });
  return `${login} · ${t('common.devices', { count: devices })}`;
}
