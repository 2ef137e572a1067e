import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { placesFor } from '../../shell/places.ts';
import { installApp } from '../../state/install.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { api, isAdmin, username } from '../../state/session.ts';
import { Icon } from '../../ui/icons.tsx';
import { LookChoice } from '../../ui/look-choice.tsx';

/** What has no room in the bar of a phone. */
export function More(): JSX.Element {
  const name = username.value;
  const shown = placesFor({ isUser: name !== undefined, isAdmin: isAdmin.value });
  const { version } = pageSettings();
  return (
    <div class="stack">
      <h1>{t('shell.more')}</h1>
      {name !== undefined && <p class="quiet">{t('shell.loggedInAs', { name })}</p>}
      <ul class="menu">
        {shown
          .filter(({ room }) => room === 'wide')
          .map(({ path, label, icon }) => (
            <li key={path}>
              <a href={path}>
                <Icon name={icon} />
                {t(label)}
              </a>
            </li>
          ))}
        {installApp.value !== undefined && (
          <li>
            <button type="button" onClick={installApp.value}>
              <Icon name="download" />
              {t('shell.install')}
            </button>
          </li>
        )}
        <li>
          <a href="/guides/" target="_blank" rel="noopener">
            <Icon name="reference" />
            {t('profile.guides')}
          </a>
        </li>
        <li>
          <a href="/docs" target="_blank" rel="noopener">
            <Icon name="reference" />
            {t('shell.reference')}
          </a>
        </li>
        {name !== undefined && (
          <li>
            <button type="button" onClick={() => void api.logOut()}>
              <Icon name="logout" />
              {t('shell.logout')}
            </button>
          </li>
        )}
      </ul>
      <section class="surface stack" aria-labelledby="look">
        <h2 id="look">{t('profile.look')}</h2>
        <LookChoice />
      </section>
      {version !== '' && <p class="quiet small">{t('shell.version', { version })}</p>}
    </div>
  );
}
