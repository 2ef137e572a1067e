import { ApiError } from '../api/api-error.ts';
import { apiPaths } from '../api/paths.ts';
import { receivedIds } from '../api/received.ts';
import type { MyGrants, Project } from '../api/types.ts';
import { api } from './session.ts';

/** The projects that are shared with somebody; without those that went or are no longer shared. */
export async function loadSharedProjects(
  grants: MyGrants,
  signal: AbortSignal,
): Promise<readonly Project[]> {
  const projects = await Promise.all(
    receivedIds(grants, 'project').map((id) =>
      api.getJson<Project>({ path: apiPaths.project(id), signal }).catch(unlessGone),
    ),
  );
  return projects.filter((project) => project !== undefined);
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return;
  throw error;
}
