import { apiPaths } from '../api/paths.ts';
import type { Group } from '../api/types.ts';
import { type Resource, useResource } from './resource.ts';
import { api, username } from './session.ts';

/** The groups of whoever is logged in. */
export function useGroups(): Resource<readonly Group[]> {
  const user = username.value;
  return useResource(user === undefined ? undefined : `groups ${user}`, (signal) =>
    api.getJson<readonly Group[]>({ path: apiPaths.groups, signal }),
  );
}
