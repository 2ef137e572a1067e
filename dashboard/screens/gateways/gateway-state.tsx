import type { JSX } from 'preact';
import { freshnessOf, lastHeardAt } from '../../api/freshness.ts';
import { screenPaths } from '../../api/paths.ts';
import type { Gateway } from '../../api/types.ts';
import { formatAge } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';
import type { MapPlace } from '../../map/map-place.ts';
import { now } from '../../state/clock.ts';
import { deviceName } from '../../ui/value.tsx';

/** When a gateway gave its last sign of life: its own, or that of a device behind it. */
export function heardFromAt({ last_seen, devices = [] }: Gateway): number | undefined {
  const own = last_seen === undefined ? [] : [Date.parse(last_seen)];
  const instants = [...own, ...devices.flatMap((device) => lastHeardAt(device) ?? [])];
  return instants.length === 0 ? undefined : Math.max(...instants);
}

/** Whether it is there, in words and in colour. */
export function GatewayState({ gateway }: { readonly gateway: Gateway }): JSX.Element {
  const state = stateOf(gateway);
  return <span class={`gateway-state is-${state}`}>{stateText(gateway)}</span>;
}

function stateOf(gateway: Gateway): MapPlace['state'] {
  if (gateway.connected) return 'fresh';
  const freshness = freshnessOf(heardFromAt(gateway), now.value);
  return freshness === 'never' ? 'off' : freshness;
}

function stateText(gateway: Gateway): string {
  if (gateway.connected) return t('gateways.connected');
  const at = heardFromAt(gateway);
  if (at === undefined) return t('gateways.neverSeen');
  return t('gateways.lastSeen', { age: formatAge(at, Math.max(at, now.value), t) });
}

/** A gateway on a map; it stands where it says, else where its first device stands. */
export function gatewayPlaces(gateways: readonly Gateway[]): readonly MapPlace[] {
  return gateways.flatMap((gateway) => {
    const first = gateway.devices?.find((device) => device.location !== undefined);
    const location = gateway.location ?? first?.location;
    if (location === undefined) return [];
    const { latitude, longitude } = location;
    return [
      {
        ...{ id: gateway.id, latitude, longitude, name: deviceName(gateway) },
        ...{ state: stateOf(gateway), text: stateText(gateway) },
        href: screenPaths.gateway(gateway.id),
      },
    ];
  });
}
