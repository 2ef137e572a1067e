import { useMemo } from 'preact/hooks';
import { apiPaths } from '../api/paths.ts';
import { type DeviceRights, deviceRights, scopesInProject } from '../api/rights.ts';
import type { Device, MyGrants } from '../api/types.ts';
import { useLiveDevices } from './live-devices.ts';
import { pageSettings } from './page-settings.ts';
import { type Resource, useResource } from './resource.ts';
import { api, isAdmin, isRoleKnown, username } from './session.ts';
import { loadSharedProjects } from './shared-projects.ts';
import { useStillThere } from './still-there.ts';

export interface DeviceState {
  readonly resource: Resource<Device>;
  /** With the values that came since it was loaded. */
  readonly device: Device | undefined;
  readonly rights: DeviceRights | undefined;
}

const none: readonly Device[] = [];

/** So soon somebody learns that others changed a device. */
const deviceRefreshMs = 30_000;

/** One device, live, and what may be done with it. */
export function useDevice(id: string): DeviceState {
  const user = username.value;
  const resource = useResource(
    `device ${user ?? ''} ${id}`,
    (signal) => api.getJson<Device>({ path: apiPaths.device(id), signal }),
    { isKept: true, refreshMs: deviceRefreshMs },
  );
  const loaded = resource.value;
  const isShown = loaded !== undefined && resource.error === undefined;
  useStillThere(isShown ? apiPaths.device(id) : undefined, resource.reload);
  const isOthers = loaded !== undefined && user !== undefined && loaded.owner !== user;
  const grants = useResource(
    isOthers ? `grants on ${id} ${user}` : undefined,
    (signal) => loadGrants(id, signal),
    { isKept: true },
  );
  const list = useMemo(() => (loaded === undefined ? none : [loaded]), [loaded]);
  const [device] = useLiveDevices(list);
  const areGrantsKnown = !isOthers || grants.value !== undefined || isAdmin.value;
  // Nobody is told that something is hidden before that is known.
  const isAsked = isOthers && (!isRoleKnown.value || (!areGrantsKnown && !grants.error));
  if (loaded === undefined || isAsked) return { resource, device, rights: undefined };
  const rights = deviceRights(loaded, {
    ...{ username: user, isAdmin: isAdmin.value, grants: grants.value },
    publicPush: pageSettings().publicPush ?? 'open',
  });
  // Where that could not be asked, the service says what may not be seen.
  return { resource, device, rights: areGrantsKnown ? rights : { ...rights, seesData: true } };
}

/** What was granted, with what shared projects give on this device. */
async function loadGrants(device: string, signal: AbortSignal): Promise<MyGrants> {
  const grants = await api.getJson<MyGrants>({ path: '/users/me/grants', signal });
  const ofProjects = grants.received.filter(({ kind }) => kind === 'project');
  const projects = await loadSharedProjects(grants, signal);
  const listing = new Set(
    projects.filter(({ device_ids }) => device_ids.includes(device)).map(({ id }) => id),
  );
  const reaching = ofProjects
    .filter(({ resource }) => listing.has(resource))
    .map((grant) => ({
      ...grant,
      ...{ kind: 'device', resource: device, scopes: scopesInProject(grant.scopes) },
    }));
  return { ...grants, received: [...grants.received, ...reaching] };
}
