import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { username } from '../../state/session.ts';
import { CopyBlock } from '../../ui/copy-block.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Keys } from './keys.tsx';
import { ProfileHead } from './profile-head.tsx';
import { useMe } from './use-me.ts';
import { Webhook } from './webhook.tsx';

/** What programs of the own account use: keys, addresses, webhooks and documents. */
export function Developers(): JSX.Element {
  const { value, error, reload } = useMe();
  return (
    <div class="stack profile">
      <ProfileHead part="/profile/developers" />
      <section class="surface stack" aria-labelledby="keys">
        <h2 id="keys">{t('profile.keys')}</h2>
        <Keys />
      </section>
      <section class="surface stack" aria-labelledby="connect">
        <h2 id="connect">{t('profile.connect')}</h2>
        <Addresses />
      </section>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined ? (
        error === undefined && <Skeleton height={220} />
      ) : (
        <section class="surface stack" aria-labelledby="webhook">
          <h2 id="webhook">{t('profile.webhook')}</h2>
          <Webhook user={value} onSaved={reload} />
        </section>
      )}
      <ul class="menu">
        {documents.map(({ path, label }) => (
          <li key={path}>
            <a href={path} target="_blank" rel="noopener">
              <Icon name="reference" />
              {t(label)}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

const documents = [
  { path: '/docs', label: 'shell.reference' },
  { path: '/guides/', label: 'profile.guides' },
] as const;

/** Where programs connect, and lines that show by MQTT all that comes in. */
function Addresses(): JSX.Element {
  const { hostname, origin, protocol } = location;
  const { mqttPort } = pageSettings();
  const user = username.value ?? '';
  const addresses = [
    ['HTTP', `${origin}/api/v2`],
    ['MQTT', `${hostname}:${mqttPort}`],
    ['MQTT · WebSocket', `${origin.replace(protocol, protocol.replace('http', 'ws'))}/mqtt`],
  ] as const;
  const listen = [
    `mosquitto_sub -h ${hostname} -p ${mqttPort} \\`,
    `  -u '${user}' -P '${t('profile.keyHere')}' -v \\`,
    "  -t 'devices/+/sensors/+/value'",
  ].join('\n');
  return (
    <>
      <dl class="reasons addresses">
        {addresses.map(([name, address]) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd class="mono">{address}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">{t('profile.connectText')}</p>
      <CopyBlock text={listen} label="MQTT" />
    </>
  );
}
