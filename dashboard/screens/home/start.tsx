import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { username } from '../../state/session.ts';

/** The first screen: of the own devices, or the welcome of a guest. */
export function Start(): JSX.Element {
  return <h1>{username.value === undefined ? t('welcome.title') : t('shell.home')}</h1>;
}
