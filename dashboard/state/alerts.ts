import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { thresholdOf } from '../alerts/attention.ts';
import type { Naming } from '../alerts/condition-words.ts';
import type { Notification } from '../api/alert-types.ts';
import { apiPaths } from '../api/paths.ts';
import type { Device } from '../api/types.ts';
import { language, t } from '../i18n/i18n.ts';
import { withoutPhotos } from './list-pages.ts';
import { type Resource, useResource } from './resource.ts';
import { sensorName } from './sensor-name.ts';
import { api, username } from './session.ts';

const alertsMax = 1_000;
const devicesMax = 500;

/** The alerts one may read; nothing is asked for a guest. */
export function useAlerts(): Resource<readonly Notification[]> {
  const user = username.value;
  const alerts = useResource(
    user === undefined ? undefined : `alerts ${user}`,
    (signal) =>
      api.getJson<readonly Notification[]>({
        path: '/notifications',
        query: { limit: alertsMax },
        signal,
      }),
    { isKept: true },
  );
  const { value } = alerts;
  useEffect(() => {
    known.value = user === undefined ? undefined : { user, alerts: value ?? [] };
  }, [user, value]);
  return alerts;
}

/** The alerts that the screen shown has asked for. */
const known = signal<{ readonly user: string; readonly alerts: readonly Notification[] }>();

/** The limit of an alert about a sensor, from alerts that the screen has: nothing is asked. */
export const useLine = (of: Parameters<typeof thresholdOf>[1]): number | undefined =>
  known.value?.user === username.value ? thresholdOf(known.value?.alerts ?? [], of) : undefined;

/** The devices that alerts are made for: the own ones, and those named besides. */
export function useAlertDevices(
  /** Undefined: not known yet which, so nothing is asked. */
  others: readonly string[] | undefined,
): Resource<readonly Device[]> {
  const user = username.value ?? '';
  return useResource<readonly Device[]>(
    others === undefined ? undefined : `alert devices ${user} ${others.join()}`,
    async (signal) => {
      const own = await api.getJson<readonly Device[]>({
        path: '/devices',
        query: { q: `owner=='${user.replaceAll("'", "''")}'`, limit: devicesMax, ...withoutPhotos },
        signal,
      });
      const missing = (others ?? []).filter((id) => !own.some((device) => device.id === id));
      const found = await Promise.all(missing.map((id) => deviceOr(id, signal)));
      return [...found.filter((device) => device !== undefined), ...own];
    },
  );
}

/** One that is gone or hidden meanwhile is shown by its id. */
async function deviceOr(id: string, signal: AbortSignal): Promise<Device | undefined> {
  try {
    return await api.getJson<Device>({ path: apiPaths.device(id), signal });
  } catch {
    return undefined;
  }
}

/** What is known to say alerts with. */
export function useNaming(devices: readonly Device[] = []): Naming {
  return { t, language: language.value, devices, nameOf: sensorName };
}
