import type { DeviceId, GatewayId } from '../../domain/ids.ts';
import type { ProjectStore } from '../../domain/projects/project-store.ts';
import { patchOf } from '../sql/patch.ts';
import {
  type ProjectRow,
  projectColumns,
  projectFromRow,
  projectToRow,
} from '../sql/project-row.ts';
import { readSafely } from './failures.ts';
import { createResourceListing } from './resource-listing.ts';
import { createSelection, found } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectProject = `select ${projectColumns} from projects where id = ?`;
const selectUnshared = `
  select listed.value as id from projects, json_each(projects.details, ?) as listed
  where projects.id = ? and not exists (select 1 from project_members
    where project = projects.id and kind = ? and resource = listed.value)`;
const countOwned = 'select count(*) as n from projects where owner = ?';

/** Projects in SQLite. */
export function createProjectStore({ reader, writer, damaged }: StoreContext): ProjectStore {
  const project = createSelection<ProjectRow>(reader, selectProject);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const unshared = createSelection<{ id: string }>(reader, selectUnshared);
  const list = createResourceListing<ProjectRow>(reader, 'project', projectColumns);

  const read = (row: ProjectRow) => damaged.read('projects', row.id, () => projectFromRow(row));

  return {
    insert: (created) => writer.call('insertProject', projectToRow(created)),
    find: (id) => readSafely(() => found(project.first(id), read)),
    list: (page) =>
      readSafely(() => {
        const { rows, total } = list(page);
        return { projects: rows.flatMap((row) => read(row) ?? []), total };
      }),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    update: (id, changes, { isOwners }) =>
      writer.call('updateProject', id, patchOf(changes), {
        kinds: [
          ...(changes.deviceIds === undefined ? [] : ['device']),
          ...(changes.gatewayIds === undefined ? [] : ['gateway']),
        ],
        isOwners,
      }),
    unshared: (id) =>
      readSafely(() => ({
        // The ids were parsed before the project was stored.
        deviceIds: unshared.all('$.deviceIds', id, 'device').map((row) => row.id as DeviceId),
        gatewayIds: unshared.all('$.gatewayIds', id, 'gateway').map((row) => row.id as GatewayId),
      })),
    remove: (id) => writer.call('removeProject', id),
  };
}
