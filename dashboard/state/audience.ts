import { ApiError } from '../api/api-error.ts';
import { apiPaths } from '../api/paths.ts';
import { granteeKey } from '../api/people.ts';
import type { Grant, Project } from '../api/types.ts';
import { type Resource, useResource } from './resource.ts';
import { api, username } from './session.ts';

/** A project that is shared, and with whom. */
export interface SharingProject {
  readonly project: Project;
  readonly grants: readonly Grant[];
}

/** With whom somebody shares their device, by itself or by projects that it is in. */
export interface Audience {
  /** Users and groups, each once. */
  readonly count: number;
  readonly hasGroups: boolean;
}

const projectsMax = 1_000;

/** With whom the own device is shared; undefined until it is known. */
export function useAudience(device: string | undefined): Audience | undefined {
  // The screen that shares the device keeps its grants under the same key.
  const own = useResource(device === undefined ? undefined : `grants ${device}`, (signal) =>
    api.getJson<readonly Grant[]>({ path: `${apiPaths.device(device ?? '')}/grants`, signal }),
  ).value;
  const byProjects = useSharingProjects(device).value;
  if (own === undefined || byProjects === undefined) return undefined;
  const all = [...own, ...byProjects.flatMap(({ grants }) => grants)];
  return {
    count: new Set(all.map(granteeKey)).size,
    hasGroups: all.some(({ group }) => group !== undefined),
  };
}

/** The own projects that share a device, each with whom. */
export function useSharingProjects(
  device: string | undefined,
): Resource<readonly SharingProject[]> {
  return useResource<readonly SharingProject[]>(
    device === undefined ? undefined : `projects that share ${device}`,
    async (signal) => {
      const query = { limit: projectsMax };
      const path = apiPaths.projects;
      const projects = await api.getJson<readonly Project[]>({ path, query, signal });
      const found = await Promise.all(
        projects
          .filter((project) => isOwnWith(project, device ?? ''))
          .map((project) => sharingOf(project, device ?? '', signal)),
      );
      const known = found.filter((one) => one !== undefined);
      return known.filter(({ grants }) => grants.length > 0);
    },
  );
}

const isOwnWith = ({ owner, device_ids: devices }: Project, device: string): boolean =>
  owner === username.peek() && devices.includes(device);

/** Undefined: the project does not share the device. */
async function sharingOf(
  { id }: Project,
  device: string,
  signal: AbortSignal,
): Promise<SharingProject | undefined> {
  const path = apiPaths.project(id);
  try {
    const [project, grants] = await Promise.all([
      api.getJson<Project>({ path, signal }),
      api.getJson<readonly Grant[]>({ path: `${path}/grants`, signal }),
    ]);
    const { device_ids: devices, unshared } = project;
    const isShared = devices.includes(device) && unshared?.device_ids?.includes(device) !== true;
    return isShared ? { project, grants } : undefined;
  } catch (error) {
    // It was deleted, or given away, in this moment.
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return;
    throw error;
  }
}
