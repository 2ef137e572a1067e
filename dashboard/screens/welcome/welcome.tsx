import type { JSX } from 'preact';
import type { Device } from '../../api/types.ts';
import { language, showLanguage, t } from '../../i18n/i18n.ts';
import { type Language, languageNames, languages } from '../../i18n/languages.ts';
import { rememberLanguage } from '../../state/language-choice.ts';
import { withoutPhotos } from '../../state/list-pages.ts';
import { useLiveDevices } from '../../state/live-devices.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeviceCard } from '../home/device-card.tsx';
import { DevicesMap } from '../map/devices-map.tsx';
import { WelcomePicture } from './welcome-picture.tsx';

const shownDevices = 60;
const noDevices: readonly Device[] = [];

/** The languages by their own names: who reads none of this one finds theirs. */
function Languages(): JSX.Element {
  async function choose(next: Language): Promise<void> {
    rememberLanguage(next);
    // Without network the words stay as they are until the next visit.
    await showLanguage(next).catch(() => undefined);
  }
  return (
    <div class="segments segments-close">
      {languages.map((one) => (
        <button
          key={one}
          type="button"
          class="segment"
          lang={one}
          aria-pressed={one === language.value}
          onClick={() => void choose(one)}
        >
          {languageNames[one]}
        </button>
      ))}
    </div>
  );
}

/** What a guest sees first: what this is, what is public, and the way in. */
export function Welcome(): JSX.Element {
  const found = useResource('welcome', (signal) =>
    api.getPage<Device>({
      path: '/devices',
      query: { limit: shownDevices, ...withoutPhotos },
      signal,
    }),
  );
  const devices = useLiveDevices(found.value?.items ?? noDevices);
  const total = found.value?.total ?? 0;
  return (
    <div class="stack">
      <header class="welcome">
        <Languages />
        <WelcomePicture />
        <h1>{t('welcome.title')}</h1>
        <p class="quiet">{t('welcome.what')}</p>
        <div class="row">
          {pageSettings().signup === 'open' && (
            <a class="button button-main" href="/signup">
              {t('shell.signup')}
            </a>
          )}
          <a class="button" href="/login">
            {t('shell.login')}
          </a>
        </div>
      </header>
      {found.error !== undefined && <ErrorBox error={found.error} onRetry={found.reload} />}
      {found.value === undefined && found.error === undefined && <Skeleton height={320} />}
      {devices.length > 0 && (
        <section class="stack" aria-labelledby="public">
          <div>
            <h2 id="public">{t('welcome.publicDevices')}</h2>
            <p class="quiet">{t('welcome.publicHint')}</p>
          </div>
          <DevicesMap devices={devices} />
          <ul class="cards">
            {devices.map((device) => (
              <li key={device.id}>
                <DeviceCard device={device} />
              </li>
            ))}
          </ul>
          {devices.length < total && (
            <p class="quiet">{t('home.shownOf', { shown: devices.length, count: total })}</p>
          )}
        </section>
      )}
    </div>
  );
}
