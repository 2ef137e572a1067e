import type { Datapoint, Device } from './types.ts';

const minuteMs = 60_000;

/** Without better knowledge, a sensor that says nothing for this long is silent. */
export const staleAfterMs = 180 * minuteMs;

/** When a datapoint was measured; when it came, for devices without a clock. */
export function instantOf(datapoint: Datapoint | undefined): number | undefined {
  const text = datapoint?.timestamp ?? datapoint?.date_received;
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** When a device last said anything; undefined when it never has. */
export function lastHeardAt(device: Pick<Device, 'sensors'>): number | undefined {
  const instants = device.sensors.flatMap(({ last_value }) => instantOf(last_value) ?? []);
  return instants.length === 0 ? undefined : Math.max(...instants);
}

export type Freshness = 'fresh' | 'stale' | 'never';

export function freshnessOf(at: number | undefined, now: number): Freshness {
  if (at === undefined) return 'never';
  return now - at > staleAfterMs ? 'stale' : 'fresh';
}

/** Devices that fell silent first, then the rest in the order given; those never heard stay put. */
export function attentionFirst(
  devices: readonly Device[],
  now: number,
): { readonly silent: readonly Device[]; readonly others: readonly Device[] } {
  const isSilent = (device: Device): boolean => freshnessOf(lastHeardAt(device), now) === 'stale';
  return {
    silent: devices.filter(isSilent),
    others: devices.filter((device) => !isSilent(device)),
  };
}
