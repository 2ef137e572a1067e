import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { screenPaths } from '../../api/paths.ts';
import type { Gateway } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { MapOfPlaces } from '../../map/lazy-map.tsx';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';
import { GatewayState, gatewayPlaces, heardFromAt } from './gateway-state.tsx';
import { HeardStrip } from './heard-strip.tsx';
import { loadGateways } from './load-gateways.ts';

/** The gateways one may see, those that have been silent longest first. */
export function Gateways(): JSX.Element {
  const found = useResource(`gateways ${username.value}`, (signal) => loadGateways(api, signal), {
    isKept: true,
  });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('shell.gateways')}</h1>
        <a class="button" href="/new-device?kit=gateway">
          <Icon name="plus" />
          {t('gateways.add')}
        </a>
      </header>
      <Remembered resource={found} />
      {found.error !== undefined && found.rememberedFrom === undefined && (
        <ErrorBox error={found.error} onRetry={found.reload} />
      )}
      <GatewayList found={found} />
    </div>
  );
}

function GatewayList(props: { readonly found: Resource<readonly Gateway[]> }): JSX.Element | null {
  const { value, error } = props.found;
  const sorted = useMemo(() => [...(value ?? [])].sort(bySilence), [value]);
  const places = gatewayPlaces(sorted);
  if (value === undefined) return error === undefined ? <Skeleton height={320} /> : null;
  if (sorted.length === 0) {
    return (
      <div class="empty">
        <h2>{t('gateways.none')}</h2>
        <p>{t('gateways.noneText')}</p>
      </div>
    );
  }
  return (
    <>
      <ul class="cards">
        {sorted.map((gateway) => (
          <li key={gateway.id}>
            <GatewayCard gateway={gateway} />
          </li>
        ))}
      </ul>
      {places.length > 0 && <MapOfPlaces places={places} heightPx={320} />}
    </>
  );
}

/** Who needs somebody to go there comes first; those never seen come last. */
function bySilence(one: Gateway, other: Gateway): number {
  const rank = (gateway: Gateway): number =>
    gateway.connected
      ? Number.MAX_SAFE_INTEGER - 1
      : (heardFromAt(gateway) ?? Number.MAX_SAFE_INTEGER);
  return rank(one) - rank(other);
}

function GatewayCard({ gateway }: { readonly gateway: Gateway }): JSX.Element {
  const name = deviceName(gateway);
  return (
    <a class="card" href={screenPaths.gateway(gateway.id)}>
      <span class="card-head">
        <span class="card-name">{name}</span>
        <span class="card-marks">
          {t('common.devices', { count: gateway.devices?.length ?? 0 })}
        </span>
      </span>
      <GatewayState gateway={gateway} />
      <HeardStrip gateway={gateway} name={name} />
    </a>
  );
}
