import type { DeviceId, GatewayId } from '../../domain/ids.ts';
import type { Project, ProjectStore } from '../../domain/projects/projects.ts';
import { applyPatch, type Patch, patchOf } from './patch.ts';
import { removalOf, resourceReads } from './resources.ts';
import { insertRow, type SqlContext, type SqlSession, type Writes } from './session.ts';
import { createTable, type Row } from './table.ts';

const projectTable = createTable<Project>('projects', { plain: ['id', 'owner'] });
const selectProject = `select ${projectTable.columns} from projects where id = $1`;
const selectUnshared = `
  select value as id from each($3)
  where not exists (select 1 from project_members
    where project = $1 and kind = $2 and resource = value)
  order by given.key`;
const updateDetails = 'update projects set details = $1 where id = $2';
const pruneMembers = `
  delete from project_members
  where project = $1 and kind = $2 and resource not in (select value from each($3))`;
const addMembers = `
  insert into project_members (project, kind, resource)
  select $1, $2, value from each($3) where true on conflict do nothing`;

type Kind = 'device' | 'gateway';

/** Changes of projects. */
export const projectWrites = {
  async insertProject(session, row: Row) {
    const made = await insertRow(session, 'projects', row, 'on conflict do nothing');
    if (made === 0) return 'duplicate';
    await listMembers(session, row, { kinds: ['device', 'gateway'], isOwners: true });
    return 'inserted';
  },

  async updateProject(session, id: string, changes: Patch, listing: Listing) {
    const row = await session.first<Row & { details: string }>(selectProject, id);
    if (row === undefined) return 'missing';
    const details = applyPatch(row.details, changes);
    await session.run(updateDetails, details, id);
    await listMembers(session, { ...row, details }, listing);
    return 'updated';
  },
  removeProject: removalOf('project'),
} satisfies Writes;

/** The kinds that a change lists anew; what its owner lists, grants on the project reach. */
interface Listing {
  readonly kinds: readonly Kind[];
  readonly isOwners: boolean;
}

/** Keeps what grants on the project reach in step with what it lists. */
async function listMembers(
  session: SqlSession,
  row: Row,
  { kinds, isOwners }: Listing,
): Promise<void> {
  const { id, deviceIds, gatewayIds } = projectTable.fromRow(row);
  for (const kind of kinds) {
    const ids = kind === 'device' ? deviceIds : gatewayIds;
    await session.run(pruneMembers, id, kind, ids);
    if (isOwners) await session.run(addMembers, id, kind, ids);
  }
}

/** Projects in the tables of either engine. */
export function createProjectStore(context: SqlContext<typeof projectWrites>): ProjectStore {
  const { reader, write } = context;
  const { find, list, countOwnedBy } = resourceReads(context, 'project', projectTable);

  async function unsharedOf(id: string, kind: Kind, ids: readonly string[]) {
    const rows = await reader.all<{ id: string }>(selectUnshared, id, kind, ids);
    return rows.map((row) => row.id);
  }

  return {
    insert: (created) => write('insertProject', projectTable.toRow(created)),
    find,
    countOwnedBy,
    async list(page) {
      const { things: projects, total } = await list(page);
      return { projects, total };
    },
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
