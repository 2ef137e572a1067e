import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { thresholdOf } from '../alerts/attention.ts';
import type { Naming } from '../alerts/condition-words.ts';
import type { Notification } from '../api/alert-types.ts';
import { apiPaths } from '../api/paths.ts';
import type { Device } from '../api/types.ts';
import { language, t } from '../i18n/i18n.ts';
import { alertsOf } from './list-pages.ts';
import { isBusy } from './recovery.ts';
import { type Resource, useResource } from './resource.ts';
import { sensorName } from './sensor-name.ts';
import { api, username } from './session.ts';

/** Alerts of one other owner, and owners, that are asked for at once. */
const othersMax = 100;
const ownersMax = 8;

interface UsedAlerts extends Pick<Resource<readonly Notification[]>, 'value' | 'error'> {
  /** Whether the alerts of all who own the devices are known. */
  readonly isWhole: boolean | undefined;
}

/**
 * The own alerts, then those of who owns these devices; nothing is asked for a guest. Whoever sees
 * a device may watch it: alerts of strangers are on no screen of devices.
 */
export function useAlerts(
  devices: readonly Device[],
  /** Nobody, where the screen has the own alerts already. */
  first: readonly string[] = [username.value ?? ''],
): UsedAlerts {
  const user = username.value;
  const all = new Set([...first, ...devices.map(({ owner }) => owner)]);
  const owners = [...all].slice(0, ownersMax);
  const { value, error } = useResource(
    user && owners[0] && `alerts ${owners.join()} for ${user}`,
    async (signal) => {
      const found = owners.map((owner) =>
        api
          .getJson<readonly Notification[]>({
            path: apiPaths.alerts,
            query: alertsOf(owner, owner === user ? undefined : othersMax),
            signal,
          })
          .catch((reason: unknown) => {
            // Refused alerts of another owner hide none; a busy service is asked again.
            if (owner === user || isBusy(reason)) throw reason;
          }),
      );
      const answers = await Promise.all(found);
      const alerts = answers.flatMap((some) => some ?? []);
      const isWhole = answers.every(
        (some, place) => some && (some.length < othersMax || owners[place] === user),
      );
      return { alerts, isWhole };
    },
    { isKept: true },
  );
  // More owners take no alert away while theirs are on their way.
  const held = useMemo(() => ({ value }), [user]);
  if (devices[0]) held.value = value ?? held.value;
  useEffect(() => {
    const others = alertsKnownTo(user).filter(({ owner }) => !owners.includes(owner));
    known.value = { user, alerts: [...others, ...(value?.alerts ?? [])] };
  }, [user, value]);
  const isWhole = value?.isWhole && owners.length === all.size;
  return { value: (value ?? held.value)?.alerts, error, isWhole };
}

/** The alerts that screens of this user have asked for. */
const known = signal<{
  readonly user: string | undefined;
  readonly alerts: readonly Notification[];
}>({ user: undefined, alerts: [] });

/** The limit of an alert about a sensor, from alerts that the screen has: nothing is asked. */
export const useLine = (device: Device, sensorId: string): number | undefined =>
  thresholdOf(alertsKnownTo(username.value), device, sensorId);

const alertsKnownTo = (user: string | undefined): readonly Notification[] =>
  known.value.user === user ? known.value.alerts : [];

/** What is known to say alerts with. */
export function useNaming(devices: readonly Device[] = []): Naming {
  return { t, language: language.value, devices, nameOf: sensorName };
}
