import { useMemo } from 'preact/hooks';
import { apiPaths } from '../api/paths.ts';
import { type DeviceRights, deviceRights } from '../api/rights.ts';
import type { Device, MyGrants } from '../api/types.ts';
import { useLiveDevices } from './live-devices.ts';
import { type Resource, useResource } from './resource.ts';
import { api, isAdmin, username } from './session.ts';

export interface DeviceState {
  readonly resource: Resource<Device>;
  /** With the values that came since it was loaded. */
  readonly device: Device | undefined;
  readonly rights: DeviceRights | undefined;
}

const none: readonly Device[] = [];

/** One device, live, and what may be done with it. */
export function useDevice(id: string): DeviceState {
  const user = username.value;
  const resource = useResource(
    `device ${user ?? ''} ${id}`,
    (signal) => api.getJson<Device>({ path: apiPaths.device(id), signal }),
    { isKept: true },
  );
  const loaded = resource.value;
  const isOthers = loaded !== undefined && user !== undefined && loaded.owner !== user;
  const grants = useResource(isOthers ? `my grants ${user}` : undefined, (signal) =>
    api.getJson<MyGrants>({ path: '/users/me/grants', signal }),
  );
  const list = useMemo(() => (loaded === undefined ? none : [loaded]), [loaded]);
  const [device] = useLiveDevices(list);
  const rights =
    loaded === undefined
      ? undefined
      : deviceRights(loaded, { username: user, isAdmin: isAdmin.value, grants: grants.value });
  return { resource, device, rights };
}
