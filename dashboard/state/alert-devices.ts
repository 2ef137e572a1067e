import { apiPaths } from '../api/paths.ts';
import type { Device } from '../api/types.ts';
import { withoutPhotos } from './list-pages.ts';
import { type Resource, useResource } from './resource.ts';
import { api, username } from './session.ts';

const devicesMax = 500;

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

/** A device that was deleted or hidden meanwhile is left out: the screen shows its id instead. */
async function deviceOr(id: string, signal: AbortSignal): Promise<Device | undefined> {
  try {
    return await api.getJson<Device>({ path: apiPaths.device(id), signal });
  } catch {
    return undefined;
  }
}
