import type { DeviceId, GatewayId } from '../../domain/ids.ts';
import type { ProjectStore } from '../../domain/projects/project-store.ts';
import type { SqlContext } from './context.ts';
import { applyPatch, type Patch, patchOf } from './patch.ts';
import { type ProjectRow, projectColumns, projectFromRow, projectToRow } from './project-row.ts';
import { createResourceListing } from './resource-listing.ts';
import { type Count, found, insertRow, type SqlSession } from './session.ts';

const selectProject = `select ${projectColumns} from projects where id = $1`;
const selectUnshared = `
  select value as id from each($3)
  where not exists (select 1 from project_members
    where project = $1 and kind = $2 and resource = value)
  order by given.key`;
const countOwned = 'select count(*) as n from projects where nocase(owner) = nocase($1)';
const updateDetails = 'update projects set details = $1 where id = $2';
const deleteProject = 'delete from projects where id = $1';
const pruneMembers = `
  delete from project_members
  where project = $1 and kind = $2 and resource not in (select value from each($3))`;
const addMembers = `
  insert into project_members (project, kind, resource)
  select $1, $2, value from each($3) where true on conflict do nothing`;
const deleteGrants = ['grants', 'group_grants'].map(
  (table) => `delete from ${table} where kind = 'project' and resource = $1`,
);

type Kind = 'device' | 'gateway';

/** Changes of projects. */
export const projectWrites = {
  async insertProject(session: SqlSession, row: ProjectRow): Promise<'inserted' | 'duplicate'> {
    const suffix = 'on conflict do nothing';
    const made = await insertRow(session, 'projects', projectColumns, { ...row }, suffix);
    if (made === 0) return 'duplicate';
    await listMembers(session, row, { kinds: ['device', 'gateway'], isOwners: true });
    return 'inserted';
  },
  async updateProject(
    session: SqlSession,
    id: string,
    changes: Patch,
    listing: Listing,
  ): Promise<'updated' | 'missing'> {
    const row = await session.first<ProjectRow>(selectProject, id);
    if (row === undefined) return 'missing';
    const details = applyPatch(row.details, changes);
    await session.run(updateDetails, details, id);
    await listMembers(session, { ...row, details }, listing);
    return 'updated';
  },
  async removeProject(session: SqlSession, id: string): Promise<'removed' | 'missing'> {
    for (const sql of deleteGrants) await session.run(sql, id);
    return (await session.run(deleteProject, id)) === 0 ? 'missing' : 'removed';
  },
};

/** The kinds that a change lists anew; what its owner lists, grants on the project reach. */
interface Listing {
  readonly kinds: readonly Kind[];
  readonly isOwners: boolean;
}

/** Keeps what grants on the project reach in step with what it lists. */
async function listMembers(
  session: SqlSession,
  row: ProjectRow,
  { kinds, isOwners }: Listing,
): Promise<void> {
  const { id, deviceIds, gatewayIds } = projectFromRow(row);
  for (const kind of kinds) {
    const ids = kind === 'device' ? deviceIds : gatewayIds;
    await session.run(pruneMembers, id, kind, ids);
    if (isOwners) await session.run(addMembers, id, kind, ids);
  }
}

/** Projects in the tables of either engine. */
export function createProjectStore(context: SqlContext<typeof projectWrites>): ProjectStore {
  const { reader, write, damaged } = context;
  const list = createResourceListing<ProjectRow>(context, 'project', projectColumns);
  const read = (row: ProjectRow) => damaged.read('projects', row.id, () => projectFromRow(row));
  const find: ProjectStore['find'] = async (id) =>
    found(await reader.first<ProjectRow>(selectProject, id), read);

  async function unsharedOf(id: string, kind: Kind, ids: readonly string[]) {
    const rows = await reader.all<{ id: string }>(selectUnshared, id, kind, ids);
    return rows.map((row) => row.id);
  }

  return {
    insert: (created) => write('insertProject', projectToRow(created)),
    find,
    async list(page) {
      const { rows, total } = await list(page);
      return { projects: rows.flatMap((row) => read(row) ?? []), total };
    },
    countOwnedBy: async (owner) => (await reader.first<Count>(countOwned, owner))?.n ?? 0,
    update: (id, changes, { isOwners }) => {
      const kinds: Kind[] = [];
      if (changes.deviceIds !== undefined) kinds.push('device');
      if (changes.gatewayIds !== undefined) kinds.push('gateway');
      return write('updateProject', id, patchOf(changes), { kinds, isOwners });
    },
    async unshared(id) {
      const { deviceIds = [], gatewayIds = [] } = (await find(id)) ?? {};
      return {
        // The ids were parsed before the project was stored.
        deviceIds: (await unsharedOf(id, 'device', deviceIds)) as DeviceId[],
        gatewayIds: (await unsharedOf(id, 'gateway', gatewayIds)) as GatewayId[],
      };
    },
    remove: (id) => write('removeProject', id),
  };
}
