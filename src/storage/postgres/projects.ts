import type { DeviceId, GatewayId } from '../../domain/ids.ts';
import type { ProjectStore } from '../../domain/projects/project-store.ts';
import { applyPatch, patchOf } from '../sql/patch.ts';
import {
  type ProjectRow,
  projectColumns,
  projectFromRow,
  projectToRow,
} from '../sql/project-row.ts';
import { found, insertRow, type Session } from './connection.ts';
import { createResourceListing } from './resource-listing.ts';
import type { StoreContext } from './store-context.ts';

const selectProject = `select ${projectColumns} from projects where id = $1`;
const selectUnshared = `
  select listed as id from unnest($3::text[]) with ordinality as given (listed, place)
  where not exists (select 1 from project_members
    where project = $1 and kind = $2 and resource = listed)
  order by place`;
const countOwned = 'select count(*) as n from projects where nocase(owner) = nocase($1)';
const updateDetails = 'update projects set details = $1 where id = $2';
const deleteProject = 'delete from projects where id = $1';
const pruneMembers = `
  delete from project_members where project = $1 and kind = $2 and resource <> all($3::text[])`;
const addMembers = `
  insert into project_members (project, kind, resource)
  select $1, $2, listed from unnest($3::text[]) as given (listed) on conflict do nothing`;
const deleteGrantsOn = ['grants', 'group_grants'].map(
  (table) => `delete from ${table} where kind = 'project' and resource = $1`,
);

type Kind = 'device' | 'gateway';

/** Projects in PostgreSQL. */
export function createProjectStore({ reader, writer, damaged }: StoreContext): ProjectStore {
  const list = createResourceListing<ProjectRow>(reader, 'project', projectColumns);
  const read = (row: ProjectRow) => damaged.read('projects', row.id, () => projectFromRow(row));

  async function unsharedOf(id: string, kind: Kind, ids: readonly string[]) {
    const rows = await reader.all<{ id: string }>(selectUnshared, id, kind, ids);
    return rows.map((row) => row.id);
  }

  return {
    insert: (created) =>
      writer.call(async (tx) => {
        const row = projectToRow(created);
        const suffix = 'on conflict do nothing';
        const made = await insertRow(tx, 'projects', projectColumns, { ...row }, suffix);
        if (made === 0) return 'duplicate';
        await listMembers(tx, row, ['device', 'gateway'], true);
        return 'inserted';
      }),
    find: async (id) => found(await reader.first<ProjectRow>(selectProject, id), read),
    async list(page) {
      const { rows, total } = await list(page);
      return { projects: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: async (owner) => (await reader.first<{ n: number }>(countOwned, owner))?.n ?? 0,
    update: (id, changes, { isOwners }) =>
      writer.call(async (tx) => {
        const row = await tx.first<ProjectRow>(selectProject, id);
        if (row === undefined) return 'missing';
        const details = applyPatch(row.details, patchOf(changes));
        await tx.run(updateDetails, details, id);
        const kinds: readonly Kind[] = [
          ...(changes.deviceIds === undefined ? [] : ['device' as const]),
          ...(changes.gatewayIds === undefined ? [] : ['gateway' as const]),
        ];
        await listMembers(tx, { ...row, details }, kinds, isOwners);
        return 'updated';
      }),
    async unshared(id) {
      const project = found(await reader.first<ProjectRow>(selectProject, id), read);
      const { deviceIds = [], gatewayIds = [] } = project ?? {};
      return {
        // The ids were parsed before the project was stored.
        deviceIds: (await unsharedOf(id, 'device', deviceIds)) as DeviceId[],
        gatewayIds: (await unsharedOf(id, 'gateway', gatewayIds)) as GatewayId[],
      };
    },
    remove: (id) =>
      writer.call(async (tx) => {
        for (const part of deleteGrantsOn) await tx.run(part, id);
        return (await tx.run(deleteProject, id)) === 0 ? 'missing' : 'removed';
      }),
  };
}

/** Keeps what grants on the project reach in step with what it lists. */
async function listMembers(
  session: Session,
  row: ProjectRow,
  kinds: readonly Kind[],
  isOwners: boolean,
): Promise<void> {
  const { id, deviceIds, gatewayIds } = projectFromRow(row);
  for (const kind of kinds) {
    const ids = kind === 'device' ? deviceIds : gatewayIds;
    await session.run(pruneMembers, id, kind, ids);
    if (isOwners) await session.run(addMembers, id, kind, ids);
  }
}
