import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { thresholdOf } from '../alerts/attention.ts';
import type { Naming } from '../alerts/condition-words.ts';
import type { Notification } from '../api/alert-types.ts';
import { apiPaths } from '../api/paths.ts';
import type { Device } from '../api/types.ts';
import { language, t } from '../i18n/i18n.ts';
import { alertsOf } from './list-pages.ts';
import { type Resource, useResource } from './resource.ts';
import { sensorName } from './sensor-name.ts';
import { api, username } from './session.ts';

/** Alerts of one other owner, and owners, that are asked for at once. */
const othersMax = 100;
const ownersMax = 8;

/**
 * The own alerts, then those of who owns these devices; nothing is asked for a guest. Whoever sees
 * a device may watch it: alerts of strangers are on no screen of devices.
 */
export function useAlerts(
  devices: readonly Device[],
  /** Nobody, where the screen has the own alerts already. */
  first: readonly string[] = [username.value ?? ''],
): Pick<Resource<readonly Notification[]>, 'value' | 'error'> {
  const user = username.value;
  const owners = [...new Set([...first, ...devices.map(({ owner }) => owner)])].slice(0, ownersMax);
  const { value, error } = useResource(
    user && owners[0] && `alerts of ${owners.join()} for ${user}`,
    async (signal) => {
      const found = owners.map((owner) =>
        api.getJson<readonly Notification[]>({
          path: apiPaths.alerts,
          query: alertsOf(owner, owner === user ? undefined : othersMax),
          signal,
        }),
      );
      return (await Promise.all(found)).flat();
    },
    { isKept: true },
  );
  // More owners take no alert away while theirs are on their way.
  const held = useRef<typeof value>(undefined);
  if (owners[1]) held.current = value ?? held.current;
  useEffect(() => {
    const others = alertsKnownTo(user).filter(({ owner }) => !owners.includes(owner));
    known.value = { user, alerts: [...others, ...(value ?? [])] };
  }, [user, value]);
  return { value: value ?? held.current, error };
}

/** The alerts that screens of this user have asked for. */
const known = signal<{
  readonly user: string | undefined;
  readonly alerts: readonly Notification[];
}>({ user: undefined, alerts: [] });

/** The limit of an alert about a sensor, from alerts that the screen has: nothing is asked. */
export const useLine = (of: Parameters<typeof thresholdOf>[1]): number | undefined =>
  thresholdOf(alertsKnownTo(username.value), of);

const alertsKnownTo = (user: string | undefined): readonly Notification[] =>
  known.value.user === user ? known.value.alerts : [];

/** What is known to say alerts with. */
export function useNaming(devices: readonly Device[] = []): Naming {
  return { t, language: language.value, devices, nameOf: sensorName };
}
